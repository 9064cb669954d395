// Viewer: one canvas with one or several worlds side by side under one camera. Where frames come from is not its
// business: a source calls show(frame, cell); a page of its own adds elements, inputs and a function of each frame.

import { THREE, OrbitControls } from "three-bundle";
import { World } from "sesshoku/scene";

const SLOW = 70; // ms from one picture to the next
const FULL = new URLSearchParams(location.search).get("quality") === "full"; // whatever it costs

// Whether pictures are computed by the processor: then everything is drawn with less.
function isSoftware() {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context && context.getExtension("WEBGL_debug_renderer_info");
  const name = info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  if (context) context.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export class Viewer {
  // cells: [{ title, drawing }]
  constructor(element, cells) {
    this.element = element;
    element.classList.add("sesshoku-view");
    this.canvasBox = add(element, "div", "canvas-box");
    this.side = add(element, "aside", "side");
    this.bar = add(element, "div", "bar");
    this.overlay = add(this.canvasBox, "div", "overlay"); // for a page's own display
    this.tip = add(this.canvasBox, "div", "tip");
    this.light = !FULL && isSoftware();
    const { light } = this;
    this.lightened = FULL ? 9 : Number(light); // steps of `#lighten` taken
    this.renderer = new THREE.WebGLRenderer({ antialias: !light, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = light ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.renderer.setPixelRatio(light ? 0.75 : Math.min(devicePixelRatio, 2));
    this.canvas = this.renderer.domElement;
    this.canvasBox.prepend(this.canvas);
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.raycaster = new THREE.Raycaster();
    this.cells = cells.map(({ title, drawing }) => this.#cell(title, drawing, cells.length));
    this.worlds = this.cells.map((cell) => cell.world);
    this.frameListeners = []; // functions of (frame, cell number)
    this.grab = null; // set by a source that lets bodies be pulled: { move(body, point, target), release() }
    this.ready = false; // a first frame has been drawn
    this.drawnFrames = 0;
    this.#pointer();
    new ResizeObserver(() => this.#resize()).observe(this.canvasBox);
    this.#resize();
    this.look();
    let last = performance.now();
    let drew = false;
    const loop = (now) => {
      requestAnimationFrame(loop);
      if (drew) this.#lighten(now - last); // the browser calls late where it is still busy with the last picture
      last = now;
      drew = this.#tick();
    };
    requestAnimationFrame(loop);
  }

  #cell(title, drawing, count) {
    const label = count > 1 ? add(this.canvasBox, "div", "cell-title", title) : null;
    return { world: new World(drawing, this.light), label, rect: { x: 0, y: 0, width: 1, height: 1 } };
  }

  onFrame(listener) { this.frameListeners.push(listener); }

  show(frame, cell = 0) {
    this.worlds[cell].show(frame);
    this.cells[cell].frame = frame;
    if (this.following && cell === 0) this.#follow(this.worlds[0]);
    this.ready = true;
    this.dirty = true;
    for (const listener of this.frameListeners) listener(frame, cell);
  }

  redraw() { this.dirty = true; }

  // Turn kinds of contact drawings on and off: points, forces, cones, polygons, springs, marks.
  setShown(kind, on) {
    for (const { world, frame } of this.cells) {
      world.contacts.shown[kind] = on;
      if (frame) world.contacts.show(frame);
    }
    this.dirty = true;
  }

  // The whole of a run in view: box [x, y, z, x, y, z] of where bodies come, within reason.
  fit(low, high) {
    const { center, radius } = this.worlds[0];
    const middle = low.map((x, i) => 0.5 * (x + high[i]));
    const half = high.map((x, i) => 0.5 * (x - low[i]));
    const reach = Math.max(Math.min(Math.hypot(...half), 12 * radius), 0.5 * radius);
    const target = reach < 12 * radius ? new THREE.Vector3(...middle) : center;
    const wide = Math.min(Math.hypot(half[0], half[1]), reach);
    const tall = 0.9 * Math.min(half[2], reach) + 0.42 * wide; // as seen from above at 25 degrees
    const slope = Math.tan(0.5 * this.camera.fov * Math.PI / 180);
    const away = 1.15 * Math.max(tall / slope, wide / (slope * this.camera.aspect), 0.5 * radius) + 0.4 * wide;
    const way = new THREE.Vector3(1.0, -2.6, 1.3).setLength(away);
    this.look(target.clone().add(way).toArray(), target.toArray());
    for (const world of this.worlds) world.widen(reach);
  }

  // Keep bodies in view: the camera goes along with their mean place.
  #follow(world) {
    const mean = new THREE.Vector3();
    const moving = world.bodies.filter((body) => body.userData.moves);
    for (const body of moving) mean.addScaledVector(body.position, 1 / moving.length);
    if (this.followed) {
      const way = mean.clone().sub(this.followed);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.controls.update();
    }
    this.followed = mean;
  }

  setFollowing(on) { this.following = on; this.followed = null; }

  // Look at the scene from the front, slightly from above; or from given points [x, y, z].
  look(from = null, to = null) {
    const { center, radius } = this.worlds[0];
    const target = to ? new THREE.Vector3(...to) : center;
    this.controls.target.copy(target);
    if (from) this.camera.position.set(...from);
    else {
      const back = 1.05 * radius * Math.max(1, 1 / this.camera.aspect); // a tall window sees less to the sides
      this.camera.position.copy(target).add(new THREE.Vector3(1.4, -2.6, 1.3).multiplyScalar(back));
    }
    this.camera.near = radius / 100;
    this.camera.far = 300 * radius;
    this.controls.maxDistance = 60 * radius;
    this.#resize();
    this.controls.update();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.canvasBox;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    const count = this.cells.length;
    let columns = 1; // cells as nearly 4:3 as they can be, with few places left empty
    const off = (n) => Math.abs(Math.log((width / n) / (height / Math.ceil(count / n)) * 0.75))
      + (n * Math.ceil(count / n) - count) / count;
    for (let c = 1; c <= count; c++) if (off(c) < off(columns)) columns = c;
    const rows = Math.ceil(count / columns);
    this.cells.forEach((cell, i) => {
      const w = width / columns;
      const h = height / rows;
      cell.rect = { x: (i % columns) * w, y: Math.floor(i / columns) * h, width: w, height: h };
      if (cell.label) Object.assign(cell.label.style, { left: `${cell.rect.x + 10}px`, top: `${cell.rect.y + 8}px` });
    });
    this.camera.aspect = (width / columns) / (height / rows);
    this.camera.updateProjectionMatrix();
    this.height = height;
    this.dirty = true;
  }

  #tick() {
    if (!this.dirty || !this.ready) return false;
    this.dirty = false;
    const { renderer } = this;
    renderer.setScissorTest(this.cells.length > 1);
    for (const { world, rect } of this.cells) {
      const bottom = this.height - rect.y - rect.height;
      renderer.setViewport(rect.x, bottom, rect.width, rect.height);
      renderer.setScissor(rect.x, bottom, rect.width, rect.height);
      world.follow(this.controls.target);
      renderer.render(world.scene, this.camera);
    }
    this.drawnFrames += 1;
    document.body.dataset.drawn = "";
    return true;
  }

  // Where drawing is slow (a machine without a graphics card) first the resolution goes down, then shadows go.
  #lighten(spent) {
    this.slowness = 0.9 * (this.slowness || 0) + 0.1 * spent;
    if (this.drawnFrames - (this.lightenedAt || 0) < 15 || this.slowness < SLOW || this.lightened >= 2) return;
    this.lightened += 1;
    this.slowness = 0;
    this.lightenedAt = this.drawnFrames;
    if (this.lightened === 1) this.renderer.setPixelRatio(0.75);
    else for (const world of this.worlds) world.sun.castShadow = false;
    this.#resize();
  }

  // ---- mouse and touch

  #cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    const cell = this.cells.find(({ rect: r }) => x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height);
    if (!cell) return null;
    const { rect } = cell;
    const pointer = new THREE.Vector2(2 * (x - rect.x) / rect.width - 1, 1 - 2 * (y - rect.y) / rect.height);
    this.raycaster.setFromCamera(pointer, this.camera);
    return { cell, x, y };
  }

  #pointer() {
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event), { capture: true });
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    for (const kind of ["pointerup", "pointercancel"]) this.canvas.addEventListener(kind, () => this.#up());
    this.canvas.addEventListener("pointerleave", () => { this.tip.style.display = "none"; });
  }

  #down(event) {
    if (!this.grab || event.button !== 0 || event.ctrlKey || event.shiftKey) return;
    const at = this.#cellAt(event);
    const hit = at && at.cell.world.pick(this.raycaster);
    if (!hit || !hit.body.userData.moves) return;
    const facing = this.camera.getWorldDirection(new THREE.Vector3());
    this.held = {
      number: hit.body.userData.number,
      point: hit.body.worldToLocal(hit.point.clone()).toArray(),
      plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, hit.point),
    };
    this.controls.enabled = false;
    this.canvas.setPointerCapture(event.pointerId);
    this.grab.move(this.held.number, this.held.point, hit.point.toArray());
  }

  #move(event) {
    const at = this.#cellAt(event);
    if (this.held) {
      const target = this.raycaster.ray.intersectPlane(this.held.plane, new THREE.Vector3());
      if (target) this.grab.move(this.held.number, this.held.point, target.toArray());
      return;
    }
    const found = at && event.buttons === 0 ? at.cell.world.pick(this.raycaster) : null;
    const hit = found && !found.plane ? found : null; // the ground is everywhere: its name would only be in the way
    this.tip.style.display = hit ? "block" : "none";
    if (hit) {
      this.tip.textContent = hit.body.name;
      Object.assign(this.tip.style, { left: `${at.x + 14}px`, top: `${at.y + 10}px` });
    }
  }

  #up() {
    if (!this.held) return;
    this.held = null;
    this.controls.enabled = true;
    this.grab.release();
  }
}

// A new element in a parent: tag, class and text.
export function add(parent, tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}
