"""How the page of `compare` looks. Colours are told apart by all eyes, in light and in dark."""

LIGHT = ("#0b62b8", "#c2410c", "#12784b", "#7c3aed", "#a16207", "#0e7490", "#be185d")
DARK = ("#6cb2f7", "#ff9a62", "#5fd39a", "#b79cff", "#e8c35a", "#5ccfe0", "#ff8fc2")
HUES = len(LIGHT)


def _variables(hues: tuple[str, ...], **others: str) -> str:
    named = {f"hue{n}": hue for n, hue in enumerate(hues)} | others
    return "".join(f"--{name.replace('_', '-')}:{value};" for name, value in named.items())


STYLE = (
    ":root{color-scheme:light dark;"
    + _variables(LIGHT, peer="#5b5f66", ink="#1c2024", soft="#5d6570", line="#dfe3e8", paper="#ffffff", card="#f6f8fa",
                 good="#0f7a3d", bad="#c0262d")
    + "}@media (prefers-color-scheme: dark){:root{"
    + _variables(DARK, peer="#c3c8cf", ink="#e8eaed", soft="#9aa4b0", line="#30363d", paper="#14171b", card="#1b2026",
                 good="#58c98a", bad="#ff8080")
    + "}}"
    + """
*{box-sizing:border-box}
body{margin:0 auto;max-width:74rem;padding:2.5rem 1.5rem 4rem;background:var(--paper);color:var(--ink);
 font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .5rem;letter-spacing:-.01em}
h2{font-size:1.25rem;margin:3rem 0 .4rem}
header p,.note{max-width:46rem;margin:.2rem 0 1rem}
.meta,footer{color:var(--soft);font-size:.85rem}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem}
.scroll{overflow-x:auto;margin:.6rem 0 1rem}
table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}
th,td{padding:.36rem .5rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th:first-child{text-align:left;font-weight:500}
thead th{color:var(--soft);font-weight:500;vertical-align:bottom;border-bottom:2px solid var(--line)}
thead th[title]{cursor:help}
.glance{font-size:1rem}.glance thead th{white-space:normal;max-width:13rem}.glance td,.glance th{padding:.5rem 1.1rem}
.exact th,.exact td{font-weight:700}
.hit{color:var(--good);font-weight:600}.miss{color:var(--bad);font-weight:600}
td.refused{text-align:left;white-space:normal}.refused{color:var(--bad)}
.swatch{display:inline-block;width:1.1em;height:0;margin-right:.55em;vertical-align:.28em;
 border-top:3px solid var(--c)}
.swatch.dashed{border-top-style:dashed}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;padding:0;margin:1.2rem 0 .3rem;font-size:.9rem}
.legend svg{margin-right:.45rem;vertical-align:middle}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:1rem}
.chart{width:100%;height:auto;background:var(--card);border-radius:8px}
.chart text{fill:var(--soft);font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
.chart .title{fill:var(--ink);font-size:12.5px;font-weight:600}
.chart .none{font-size:12px}
.grid{stroke:var(--line);stroke-width:1}
.level{stroke:var(--ink);stroke-width:1;stroke-dasharray:2 3;opacity:.7}.chart .level-name{font-size:10px}
.curve{fill:none;stroke:var(--c);stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}
.curve.dashed{stroke-dasharray:5 4}
.views{display:flex;flex-wrap:wrap;align-items:flex-end;gap:.8rem 1.6rem;margin:1rem 0}
.views.flat{flex-direction:column;align-items:stretch;gap:.5rem}
.views figure{margin:0}.views svg{max-width:100%;height:auto;display:block}
.views figcaption{font-size:.8rem;color:var(--soft)}
.views path{fill:var(--c);stroke:var(--c);stroke-width:1;stroke-linejoin:round;fill-opacity:.5}
.views .first{fill:none;stroke:var(--soft);stroke-dasharray:3 2;opacity:.8}.views .between{opacity:.16}
.floor{stroke:var(--soft);stroke-width:1.5}
details{margin:.8rem 0}summary{cursor:pointer;color:var(--soft);font-size:.9rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;font-size:.9rem;max-width:56rem}
dt{font-weight:600}dd{margin:0}
@media (max-width:40rem){body{padding:1.2rem .9rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}
"""
    + "".join(f".hue{n}{{--c:var(--hue{n})}}" for n in range(HUES))
    + ".peer{--c:var(--peer)}"
)
