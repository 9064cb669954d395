// The live source: one websocket that brings frames (binary) and status (JSON) and takes inputs (JSON).

import { Viewer, add } from "sesshoku/viewer";
import { decode } from "sesshoku/frame";
import { Charts, measured } from "sesshoku/charts";
import { button, materialPanel, menu, section, showPanel, slider } from "sesshoku/panel";

const SLIDER_PAUSE = 80; // ms between messages of one slider

class Live {
  constructor(element) {
    this.element = element;
    this.waiting = new Map(); // inputs that come often: only the latest of each is sent
    this.statusListeners = [];
    this.#connect();
    setInterval(() => this.#flush(), SLIDER_PAUSE);
  }

  #connect() {
    const address = new URL("/socket", location.href);
    address.protocol = "ws:";
    address.search = location.search; // the token
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("message", ({ data }) => this.#message(data));
    this.socket.addEventListener("close", () => this.#lost());
  }

  #lost() {
    document.body.dataset.state = "lost";
    if (this.viewer) this.note.textContent = "connection lost; trying again ...";
    setTimeout(() => this.#connect(), 1000);
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // For inputs that change often: the latest one goes out a little later.
  sendSoon(key, message) { this.waiting.set(key, message); }

  #flush() {
    for (const message of this.waiting.values()) this.send(message);
    this.waiting.clear();
  }

  #message(data) {
    if (typeof data !== "string") {
      this.pending = data; // an older frame that was not drawn is dropped
      this.pendingCount = (this.pendingCount || 0) + 1;
      if (!this.asked) {
        this.asked = true;
        requestAnimationFrame(() => this.#draw());
      }
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "hello") this.#hello(message);
    if (message.type === "status") this.#status(message);
  }

  #draw() {
    this.asked = false;
    if (!this.viewer) return;
    this.frame = decode(this.pending, this.layout);
    this.viewer.show(this.frame);
    for (; this.pendingCount > 0; this.pendingCount--) this.send({ type: "drawn", number: this.frame.head.number });
    if (this.charts) this.charts.add(this.frame.head);
    const now = performance.now();
    this.drawTimes = (this.drawTimes || []).filter((time) => time > now - 2000);
    this.drawTimes.push(now);
    if (now - (this.lastText || 0) > 150 || !this.frame.head.running) { // the frame a pause ends with is told as well
      this.lastText = now;
      this.#text(this.frame.head);
    }
  }

  // Over the last two seconds.
  framesPerSecond() {
    const times = this.drawTimes || [];
    return times.length < 2 ? 0 : (times.length - 1) * 1000 / (times[times.length - 1] - times[0]);
  }

  #text(head) {
    this.clock.textContent = `${head.time.toFixed(2)} s`;
    const slow = Boolean(head.running && head.factor < 0.93 * head.speed && head.factor > 0);
    this.numbers.classList.toggle("slow", slow);
    const pace = head.running ? `${head.factor.toFixed(2)} × real time${slow ? ": this machine can't keep up" : ""} · `
      + `${this.framesPerSecond().toFixed(0)} frames/s` : "paused";
    this.numbers.textContent = `${pace} · ${measured(head.step, "s")} a step`
      + (slow ? "" : ` · ${head.contacts} contact${head.contacts === 1 ? "" : "s"}`); // all on one line
    if (this.charts) this.charts.draw();
  }

  async #hello(hello) {
    document.body.dataset.state = "connected";
    this.layout = hello.layout;
    this.pendingCount = 0;
    const scene = JSON.stringify(hello.drawing);
    if (this.viewer) { // connected again: the page is there already, unless it is of another scene now
      if (scene !== this.scene) location.reload();
      return;
    }
    this.scene = scene;
    document.title = `${hello.drawing.name} · ${hello.title}`;
    this.viewer = new Viewer(this.element, [{ title: hello.drawing.name, drawing: hello.drawing }]);
    const { viewer } = this;
    Object.assign(viewer, {
      live: this, client: hello.client, send: (message) => this.send(message),
      onStatus: (listener) => this.statusListeners.push(listener),
    });
    if (hello.draggable) {
      viewer.grab = {
        move: (body, point, target) => { this.sendSoon("drag", { type: "drag", body, point, target }); this.#dragSoon(); },
        release: () => { this.waiting.delete("drag"); this.send({ type: "release" }); },
      };
    }
    this.#panels(hello);
    if (hello.extension) (await import(hello.extension)).setup(viewer);
    if (this.lastStatus) this.#status(this.lastStatus);
    window.sesshoku = viewer; // for scripts and tests
  }

  #dragSoon() { // as often as frames, not as often as the mouse moves
    if (this.dragAsked) return;
    this.dragAsked = true;
    requestAnimationFrame(() => {
      this.dragAsked = false;
      if (this.waiting.has("drag")) { this.send(this.waiting.get("drag")); this.waiting.delete("drag"); }
    });
  }

  #panels(hello) {
    const { viewer } = this;
    const has = (panel) => hello.panels.includes(panel);
    add(viewer.side, "h1", "", hello.drawing.name);
    this.note = add(viewer.side, "p", "note");
    this.note.setAttribute("role", "status");
    this.methodPlace = has("method") ? section(viewer.side, "Method") : null;
    if (has("show")) showPanel(viewer, viewer.side, () => { if (this.frame) viewer.show(this.frame); });
    if (has("charts")) this.charts = new Charts(section(viewer.side, "Charts"));
    this.materialPlace = has("materials") ? add(viewer.side, "div") : null;
    this.#bar(has("playback"));
    if (!viewer.side.querySelector("details")) viewer.side.remove();
  }

  #bar(buttons) {
    const { bar } = this.viewer;
    if (buttons) {
      this.playButton = button(bar, "❚❚", "pause", () => this.send({ type: this.playing ? "pause" : "play" }));
      this.playButton.id = "play";
      button(bar, "▸❘", "one step", () => this.send({ type: "step", count: 1 })).id = "step";
      button(bar, "↺", "back to the start", () => this.send({ type: "reset" })).id = "reset";
      this.speed = slider(bar, "speed", { min: -2, max: 0.5, step: 0.05, value: 1, decades: true, unit: " ×" },
        (value) => this.sendSoon("speed", { type: "speed", value }));
      this.speed.id = "speed";
    }
    this.clock = add(bar, "span", "clock", "0.00 s");
    this.numbers = add(bar, "span", "numbers");
  }

  #status(status) {
    this.lastStatus = status;
    if (!this.viewer) return;
    this.playing = status.playing;
    if (this.playButton) {
      this.playButton.textContent = status.playing ? "❚❚" : "▶";
      this.playButton.title = status.playing ? "pause" : "play";
      this.speed.setValue(status.speed);
    }
    this.note.textContent = !status.busy ? status.notice : status.progress ? `${status.progress}; the first time only`
      : `making ${status.busy} ready ...`;
    if (this.methodPlace) this.#methods(status);
    if (this.materialPlace && !this.updateMaterials) {
      this.updateMaterials = materialPanel(this.materialPlace, status.materials,
        (message) => this.sendSoon(`${message.material} ${message.field}`, message));
    } else if (this.updateMaterials) {
      this.updateMaterials(status.materials);
    }
    for (const listener of this.statusListeners) listener(status);
  }

  #methods(status) {
    if (!this.methodMenu) {
      const options = status.methods.map(({ name }) => ({ value: name, text: name }));
      this.methodMenu = menu(this.methodPlace, "law", options, (name) => this.send({ type: "method", name }));
      this.methodMenu.id = "method";
      this.reasons = add(this.methodPlace, "ul", "reasons"); // of methods that cannot carry the scene, or all of it
    }
    status.methods.forEach(({ name, refused, left_out: leftOut }, i) => {
      Object.assign(this.methodMenu.options[i], {
        text: refused ? `${name} (cannot)` : name, title: refused || (leftOut ? `leaves out ${leftOut}` : ""),
        disabled: Boolean(refused) });
    });
    this.methodMenu.value = status.busy || status.method;
    const reasons = new Map(); // what is said -> methods of which it is said
    for (const { name, refused, left_out: leftOut } of status.methods) {
      const said = refused ? `cannot: ${refused}` : leftOut ? `left out: ${leftOut}` : "";
      if (said) reasons.set(said, [...(reasons.get(said) || []), name]);
    }
    this.reasons.replaceChildren();
    for (const [said, names] of reasons) add(this.reasons, "li", "", `${names.join(", ")} ${said}`);
  }
}

export function start(element) {
  return new Live(element);
}
