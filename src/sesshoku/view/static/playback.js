// The recorded source: frames in memory, with a timeline; several runs of one scene side by side stay in sync.

import { Viewer, add } from "sesshoku/viewer";
import { decode } from "sesshoku/frame";
import { Charts } from "sesshoku/charts";
import { button, menu, section, showPanel } from "sesshoku/panel";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];

class Playback {
  constructor(element, data) {
    const length = new DataView(data).getUint32(0, true);
    this.about = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    this.data = data;
    this.runs = this.#index(4 + length);
    this.end = Math.max(...this.runs.map(({ times }) => times[times.length - 1]));
    this.begin = Math.min(...this.runs.map(({ times }) => times[0]));
    this.time = this.begin;
    this.speed = 1;
    this.playing = false;
    this.viewer = new Viewer(element, this.about.views.map(({ title }) => ({ title, drawing: this.about.drawing })));
    this.viewer.playback = this;
    this.#panels(element);
    this.#fit();
    this.goTo(this.begin);
    let last = performance.now();
    const tick = (now) => {
      requestAnimationFrame(tick);
      if (this.playing) this.#advance((now - last) / 1000);
      last = now;
    };
    requestAnimationFrame(tick);
  }

  // Where each frame begins, and its time.
  #index(at) {
    return this.about.views.map(({ frames }) => {
      const places = [];
      const times = [];
      for (let i = 0; i < frames; i++) {
        const frame = decode(this.data, this.about.layout, at);
        places.push(at);
        times.push(frame.head.time);
        at += 4 * frame.floats;
      }
      return { places, times, shown: -1 };
    });
  }

  // The camera sees the first run; what runs off alone, as a ball may, does not make all else small.
  #fit() {
    const places = [[], [], []];
    const { unit } = this.viewer.worlds[0];
    const run = this.runs[0].places;
    for (let n = 0; n < run.length; n += Math.ceil(run.length / 200)) {
      const { poses } = decode(this.data, this.about.layout, run[n]);
      this.about.drawing.bodies.forEach(({ moves }, body) => {
        for (let i = 0; moves && i < 3; i++) {
          if (Number.isFinite(poses[7 * body + i])) places[i].push(poses[7 * body + i]);
        }
      });
    }
    if (!places[0].length) return;
    const share = (values, part) => values[Math.round(part * (values.length - 1))];
    for (const values of places) values.sort((a, b) => a - b);
    this.viewer.fit(places.map((values) => share(values, 0.02) - 0.5 * unit), places.map((values) => share(values, 0.98) + 0.5 * unit));
  }

  #advance(seconds) {
    let time = this.time + seconds * this.speed;
    if (time >= this.end) {
      if (this.loop.checked) time = this.begin;
      else { time = this.end; this.setPlaying(false); }
    }
    this.goTo(time);
  }

  setPlaying(on) {
    if (on && this.time >= this.end) this.goTo(this.begin);
    this.playing = on;
    this.playButton.textContent = on ? "❚❚" : "▶";
    this.playButton.title = on ? "pause" : "play";
  }

  // Show the last frame at or before a time, in every view.
  goTo(time, force = false) {
    this.time = Math.min(Math.max(time, this.begin), this.end);
    this.runs.forEach((run, cell) => {
      let low = 0;
      let high = run.times.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (run.times[middle] <= this.time + 1e-6) low = middle; else high = middle - 1;
      }
      if (low === run.shown && !force) return;
      run.shown = low;
      this.viewer.show(decode(this.data, this.about.layout, run.places[low]), cell);
    });
    this.timeline.value = this.time;
    this.clock.textContent = `${this.time.toFixed(2)} of ${this.end.toFixed(2)} s`;
    if (this.charts) this.charts.draw(this.time);
  }

  step(count) {
    this.setPlaying(false);
    const { times, shown } = this.runs[0];
    this.goTo(times[Math.min(Math.max(shown + count, 0), times.length - 1)]);
  }

  #panels() {
    const { bar, side } = this.viewer;
    this.playButton = button(bar, "▶", "play", () => this.setPlaying(!this.playing));
    this.playButton.classList.add("play");
    button(bar, "❘◂", "a frame back", () => this.step(-1));
    button(bar, "▸❘", "a frame on", () => this.step(1));
    this.timeline = add(bar, "input", "timeline");
    Object.assign(this.timeline, { type: "range", min: this.begin, max: this.end, step: 0.001, value: this.begin });
    this.timeline.setAttribute("aria-label", "time");
    this.timeline.addEventListener("input", () => { this.setPlaying(false); this.goTo(this.timeline.valueAsNumber); });
    this.clock = add(bar, "span", "clock");
    const speeds = SPEEDS.map((speed) => ({ value: String(speed), text: `${speed} ×` }));
    menu(bar, "speed", speeds, (value) => { this.speed = Number(value); }).value = "1";
    const box = add(bar, "label", "check");
    this.loop = add(box, "input");
    this.loop.type = "checkbox";
    add(box, "span", "", "repeat");
    if (this.about.title) add(side, "h1", "", this.about.title);
    if (this.about.note) add(side, "p", "about", this.about.note);
    showPanel(this.viewer, side, () => this.goTo(this.time, true));
    if (this.runs.length === 1) {
      this.charts = new Charts(section(side, "Charts"), { span: null, live: false });
      const [run] = this.runs;
      for (const place of run.places) this.charts.add(decode(this.data, this.about.layout, place).head);
    }
  }
}

export function start(element, data) {
  const playback = new Playback(element, data);
  (window.sesshokuPlayers ||= []).push(playback);
  element.dataset.state = "ready";
  return playback;
}
