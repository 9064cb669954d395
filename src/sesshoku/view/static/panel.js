// The viewer's own controls: playback buttons, method menu, what is shown, material sliders, charts.

import { add } from "sesshoku/viewer";
import { COLORS } from "sesshoku/contacts";

export function section(parent, title, open = true) {
  const box = add(parent, "details", "section");
  box.open = open;
  add(box, "summary", "", title);
  return add(box, "div", "section-body");
}

export function button(parent, text, title, action) {
  const made = add(parent, "button", "", text);
  made.type = "button";
  made.title = title;
  made.setAttribute("aria-label", title);
  made.addEventListener("click", action);
  return made;
}

export function menu(parent, label, options, action) {
  const box = add(parent, "label", "field");
  add(box, "span", "", label);
  const select = add(box, "select");
  for (const { value, text, title = "", disabled = false } of options) {
    const option = add(select, "option", "", text);
    Object.assign(option, { value, title, disabled });
  }
  select.addEventListener("change", () => action(select.value));
  return select;
}

// decades: the slider moves the logarithm; numbers given and handed out are the numbers themselves
export function slider(parent, label, { min, max, step, value, decades = false, unit = "" }, action) {
  const put = (number) => (decades ? Math.log10(number) : number);
  const say = (number) => `${Number(number.toPrecision(number >= 1000 ? 2 : 3))}${unit}`;
  const box = add(parent, "label", "field slider");
  add(box, "span", "", label);
  const input = add(box, "input");
  Object.assign(input, { type: "range", min, max, step, value: put(value) });
  const shown = add(box, "output", "", say(value));
  input.addEventListener("input", () => {
    const number = decades ? 10 ** input.valueAsNumber : input.valueAsNumber;
    shown.textContent = say(number);
    action(number);
  });
  input.setValue = (number) => {
    if (document.activeElement === input && input.matches(":active")) return; // the user holds it
    input.value = put(number);
    shown.textContent = say(number);
  };
  return input;
}

const KINDS = [["points", "contact points"], ["forces", "forces"], ["cones", "friction cones"], ["polygons", "contact polygons"],
  ["springs", "contact springs"], ["marks", "centre of mass, zero-moment point"]];

const hex = (number) => `#${number.toString(16).padStart(6, "0")}`;

// Which drawings are shown, and how long arrows are.
export function showPanel(viewer, parent, redraw) {
  const body = section(parent, "Show");
  const shown = viewer.worlds[0].contacts.shown;
  for (const [kind, label] of KINDS) {
    const box = add(body, "label", "check");
    const input = add(box, "input");
    Object.assign(input, { type: "checkbox", checked: shown[kind] });
    input.dataset.kind = kind;
    add(box, "span", "", label);
    input.addEventListener("change", () => { viewer.setShown(kind, input.checked); redraw(); });
  }
  const follow = add(body, "label", "check");
  const following = add(follow, "input");
  following.type = "checkbox";
  add(follow, "span", "", "camera follows the bodies");
  following.addEventListener("change", () => { viewer.setFollowing(following.checked); redraw(); });
  slider(body, "arrow length", { min: -1, max: 1, step: 0.05, value: 1, decades: true, unit: " ×" }, (value) => {
    for (const world of viewer.worlds) world.contacts.scale = value;
    redraw();
  });
  const legend = add(body, "p", "legend");
  for (const [name, color] of [["stick", COLORS.stick], ["slip", COLORS.slip], ["no force", COLORS.released],
    ["centre of mass", COLORS.center], ["zero-moment point", COLORS.moment]]) {
    const entry = add(legend, "span");
    add(entry, "i").style.background = hex(color);
    entry.append(name);
  }
}

const RANGES = { static_friction: ["static friction", 0, 1.5, 0.01], kinetic_friction: ["kinetic friction", 0, 1.5, 0.01],
  restitution: ["restitution", 0, 1, 0.01] };
const DECADES = { stiffness: ["stiffness, N/m", 1, 7], damping: ["damping, N s/m", -1, 5] };

// Sliders of each material; they act on the running scene. Returns a function that takes in new values.
export function materialPanel(parent, materials, send) {
  const body = section(parent, "Materials", materials.length <= 2);
  const inputs = materials.map((material, number) => {
    const box = add(body, "fieldset");
    add(box, "legend", "", material.name).title = material.users.join(", ");
    const made = {};
    for (const [field, [label, min, max, step]] of Object.entries(RANGES)) {
      made[field] = slider(box, label, { min, max, step, value: material[field] },
        (value) => send({ type: "material", material: number, field, value }));
    }
    for (const [field, [label, min, max]] of Object.entries(DECADES)) {
      if (material[field] === null) continue; // the method chooses
      made[field] = slider(box, label, { min, max, step: 0.05, value: material[field], decades: true },
        (value) => send({ type: "material", material: number, field, value }));
    }
    return made;
  });
  return (now) => now.forEach((material, number) => {
    for (const [field, input] of Object.entries(inputs[number] || {})) {
      input.setValue(material[field]);
    }
  });
}
