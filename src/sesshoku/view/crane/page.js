// The crane game's page: keys, buttons and a joystick go out; score, clock and speed come in.

import { measured } from "sesshoku/charts";
import { section } from "sesshoku/panel";
import { add } from "sesshoku/viewer";

const KEYS = {
  ArrowLeft: "left", ArrowRight: "right", ArrowUp: "forward", ArrowDown: "back", KeyW: "up", PageUp: "up", KeyS: "down",
  PageDown: "down", KeyA: "turn_left", KeyD: "turn_right", Space: "grab", ShiftLeft: "hurry", ShiftRight: "hurry",
};
const NAMES = { red_box: "red box", flat_box: "blue box" };

export function setup(viewer) {
  const game = new GamePage(viewer);
  viewer.game = game; // for scripts and tests
}

class GamePage {
  constructor(viewer) {
    this.viewer = viewer;
    this.state = {};
    this.sources = new Map(); // key name -> set of what holds it: a key of the keyboard, a button
    this.latched = false;
    const { overlay } = viewer;
    overlay.classList.add("crane");
    this.#display(overlay);
    this.#controls(overlay);
    this.#keyboard();
    this.#compared(viewer.side);
    viewer.bar.remove(); // the display says it all
    for (const kind of ["points", "forces", "cones", "polygons", "springs", "marks"]) viewer.setShown(kind, false);
    this.#camera();
    viewer.onStatus((status) => this.#status(status));
    viewer.onFrame((frame) => this.#frame(frame));
  }

  // The whole bin in view, also in a tall window, until the player moves the camera.
  #camera() {
    const { viewer } = this;
    const to = [0.6, 0.1, 0.35];
    const way = [0, -10.7, 6.45];
    let own = false;
    viewer.controls.addEventListener("start", () => { own = true; });
    new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = viewer.canvasBox;
      const far = Math.max(1, 1.28 * height / Math.max(width, 1));
      if (!own) viewer.look(to.map((x, i) => x + far * way[i]), to);
    }).observe(viewer.canvasBox);
  }

  // ---- what is shown

  #display(overlay) {
    const top = add(overlay, "div", "crane-top");
    this.score = add(add(top, "div", "crane-box"), "output", "crane-score", "0");
    this.score.setAttribute("aria-label", "score");
    this.clock = add(add(top, "div", "crane-box"), "output", "crane-clock", "");
    this.clock.setAttribute("aria-label", "seconds left");
    this.prizes = add(overlay, "ul", "crane-prizes");
    this.banner = add(overlay, "div", "crane-banner");
    this.banner.setAttribute("role", "status");
    this.speed = add(overlay, "div", "crane-speed");
  }

  // What each law did since the page was opened, side by side.
  #compared(side) {
    const body = section(side, "Laws compared");
    this.laws = new Map(); // method -> { deepest, step, won, row }
    this.table = add(body, "table", "crane-laws");
    const head = add(this.table, "tr");
    for (const title of ["law", "deepest", "a step", "won"]) add(head, "th", "", title);
    add(body, "p", "about", "How deep shapes overlapped at most since this page was opened, time of a step, prizes won. "
      + "Switch the law and take the same prize again: grip and slip differ.");
  }

  #law(name) {
    if (!this.laws.has(name)) {
      const row = add(this.table, "tr");
      add(row, "td", "", name);
      this.laws.set(name, { deepest: 0, step: 0, won: 0, row, cells: [1, 2, 3].map(() => add(row, "td")) });
    }
    for (const [key, { row }] of this.laws) row.classList.toggle("crane-now", key === name);
    return this.laws.get(name);
  }

  #tellLaw() {
    if (!this.state.method) return;
    const law = this.#law(this.state.method);
    [measured(law.deepest, "m"), measured(law.step, "s"), String(law.won)].forEach((text, i) => { law.cells[i].textContent = text; });
  }

  #status(status) {
    const page = status.page;
    if (!page) return;
    const before = this.state.won ? this.state.won.length : page.won.length;
    if (page.won.length > before) this.#law(status.method).won += page.won.length - before;
    this.state = { ...page, method: status.method, playing: status.playing, notice: status.notice, busy: status.busy };
    this.score.textContent = page.score;
    this.clock.textContent = page.time_left.toFixed(1);
    this.clock.classList.toggle("crane-late", page.phase === "playing" && page.time_left < 10);
    if (!this.prizes.childElementCount) {
      for (const [name, points] of page.prizes) {
        const item = add(this.prizes, "li", "", `${NAMES[name] || name} ${points}`);
        item.dataset.prize = name;
      }
    }
    for (const item of this.prizes.children) item.classList.toggle("crane-won", page.won.includes(item.dataset.prize));
    this.banner.textContent = this.#words(status, page);
    this.#demos(page.demos);
    this.grabButton.classList.toggle("crane-held", page.closed);
    this.grabButton.setAttribute("aria-pressed", String(page.closed));
    document.body.dataset.phase = page.phase;
  }

  // With --record-demos: what becomes of this round.
  #demos(told) {
    if (!told) return;
    if (!this.demos) {
      const body = section(this.viewer.side, "Demonstrations");
      this.table.closest("details").before(body.closest("details")); // in sight on a telephone as well
      this.demos = add(body, "p", "crane-demos");
    }
    this.demos.textContent = told.now + (told.last ? `. ${told.last}` : "");
    this.demos.classList.toggle("crane-recording", told.now === "recording");
  }

  #words(status, page) {
    if (!status.playing && status.notice) return `${status.notice} (R: new round)`;
    if (page.phase === "over") return `Round over: ${page.score} points, ${page.won.length} prizes. R: new round`;
    if (page.phase === "ready") return "Take a prize and drop it into the chute, front left. Any key starts the clock.";
    return "";
  }

  #frame({ head }) {
    const now = performance.now();
    if (this.state.method) {
      const law = this.#law(this.state.method);
      law.deepest = Math.max(law.deepest, head.penetration);
      law.step = head.step;
    }
    if (now - (this.lastText || 0) < 250) return;
    this.lastText = now;
    this.#tellLaw();
    const frames = this.viewer.live.framesPerSecond().toFixed(0);
    const slow = this.state.behind && head.running && head.factor < 0.95;
    this.speed.classList.toggle("crane-slow", Boolean(slow));
    this.speed.textContent = `${head.factor.toFixed(2)} × real time · ${(1000 * head.step).toFixed(2)} ms a step · ${frames} frames/s`
      + (slow ? " · this machine can't keep up: the game goes slower" : "");
  }

  // ---- what is held down

  hold(key, source, down) {
    const holders = this.sources.get(key) || new Set();
    this.sources.set(key, holders);
    const before = holders.size > 0;
    if (down) holders.add(source); else holders.delete(source);
    if (before !== holders.size > 0) this.viewer.send({ type: "key", key, down });
  }

  letGo() {
    this.sources.clear();
    this.latched = false;
    this.viewer.send({ type: "let_go" });
  }

  newRound() {
    this.letGo();
    this.viewer.send({ type: "new_round" });
  }

  #keyboard() {
    const typing = (event) => event.target instanceof HTMLElement && event.target.matches("select, input, textarea");
    addEventListener("keydown", (event) => {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.code === "KeyR" && !event.repeat) this.newRound();
      const key = KEYS[event.code];
      if (!key) return;
      event.preventDefault();
      if (document.activeElement instanceof HTMLButtonElement) document.activeElement.blur(); // space would press it
      if (!event.repeat) this.hold(key, event.code, true);
    });
    addEventListener("keyup", (event) => {
      const key = KEYS[event.code];
      if (key) this.hold(key, event.code, false);
    });
    addEventListener("blur", () => this.letGo());
    this.viewer.element.addEventListener("change", (event) => event.target.blur()); // keys belong to the game again
  }

  // ---- buttons and joystick

  #controls(overlay) {
    const left = add(overlay, "div", "crane-pad crane-left");
    this.#joystick(left);
    const right = add(overlay, "div", "crane-pad crane-right");
    this.#button(right, "up", "▲", "up (W)");
    this.#button(right, "down", "▼", "down (S)");
    this.#button(right, "turn_left", "↺", "turn left (A)");
    this.#button(right, "turn_right", "↻", "turn right (D)");
    this.grabButton = add(right, "button", "crane-grab", "grab");
    this.grabButton.type = "button";
    this.grabButton.title = "close or open the fingers (hold space)";
    this.grabButton.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.latched = !this.latched;
      this.hold("grab", "button", this.latched);
    });
    const again = add(right, "button", "crane-again", "new round");
    again.type = "button";
    again.title = "new round (R)";
    again.addEventListener("click", () => this.newRound());
    add(overlay, "div", "crane-keys", "arrows move · W S up, down · A D turn · space grab · shift hurry · R new round");
  }

  #button(parent, key, text, title) {
    const made = add(parent, "button", "", text);
    Object.assign(made, { type: "button", title });
    made.dataset.key = key;
    made.setAttribute("aria-label", title);
    const set = (down) => (event) => {
      event.preventDefault();
      if (down) made.setPointerCapture(event.pointerId);
      made.classList.toggle("crane-held", down);
      this.hold(key, "button", down);
    };
    made.addEventListener("pointerdown", set(true));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) made.addEventListener(end, set(false));
    made.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #joystick(parent) {
    const base = add(parent, "div", "crane-stick");
    base.setAttribute("aria-label", "joystick: drag to move the crane");
    const knob = add(base, "div", "crane-knob");
    const put = (x, y) => {
      knob.style.transform = `translate(${(x * 36).toFixed(1)}px, ${(-y * 36).toFixed(1)}px)`;
      const now = performance.now();
      if ((x || y) && now - (this.lastStick || 0) < 20) return; // at most 50 a second
      this.lastStick = now;
      this.viewer.send({ type: "stick", x, y });
    };
    const move = (event) => {
      if (!base.hasPointerCapture(event.pointerId)) return;
      event.preventDefault();
      const box = base.getBoundingClientRect();
      const x = (event.clientX - box.left - box.width / 2) / (box.width / 2);
      const y = -(event.clientY - box.top - box.height / 2) / (box.height / 2);
      const size = Math.max(1, Math.hypot(x, y));
      put(x / size, y / size);
    };
    base.addEventListener("pointerdown", (event) => { base.setPointerCapture(event.pointerId); move(event); });
    base.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) base.addEventListener(end, () => put(0, 0));
  }
}
