// Contacts: points, force arrows, friction cones, polygons, springs, centre of mass and zero-moment point.

import { THREE } from "three-bundle";

export const COLORS = { released: 0x9aa4b0, stick: 0x2563eb, slip: 0xf97316, pull: 0xe11d48, spring: 0x0f9d58,
  center: 0xfacc15, moment: 0xd946ef };
const STATES = [COLORS.released, COLORS.stick, COLORS.slip];
const MOST = 2000;
const ARROW_SCALE = 1.2; // lengths of a usual body or robot for the weight of one
const LONGEST = 4; // lengths of a usual body
const ZIGZAG = 7; // straight pieces of a spring
const Z = new THREE.Vector3(0, 0, 1);

// Many copies of one geometry; always seen, also within bodies.
class Copies {
  constructor(scene, geometry, options = {}, most = MOST) {
    const material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.92, fog: false, ...options });
    this.mesh = new THREE.InstancedMesh(geometry, material, most);
    this.most = most;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 10;
    this.mesh.count = 0;
    this.mesh.raycast = () => {};
    this.color = new THREE.Color();
    scene.add(this.mesh);
  }

  clear() { this.mesh.count = 0; }

  add(matrix, color) {
    if (this.mesh.count >= this.most) return;
    this.mesh.setMatrixAt(this.mesh.count, matrix);
    this.mesh.setColorAt(this.mesh.count, this.color.set(color));
    this.mesh.count += 1;
  }

  done() {
    this.mesh.visible = this.mesh.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}

// Triangles or line segments that change with every frame.
class Strokes {
  constructor(scene, make, size) {
    this.size = size;
    this.positions = new Float32Array(size * 3);
    this.colors = new Float32Array(size * 3);
    const geometry = new THREE.BufferGeometry();
    for (const [name, array] of [["position", this.positions], ["color", this.colors]]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(array, 3).setUsage(THREE.DynamicDrawUsage));
    }
    this.object = make(geometry);
    this.object.frustumCulled = false;
    this.object.renderOrder = 9;
    this.object.raycast = () => {};
    this.color = new THREE.Color();
    scene.add(this.object);
    this.count = 0;
  }

  clear() { this.count = 0; }

  add(x, y, z, color) {
    if (this.count >= this.size) return;
    this.positions.set([x, y, z], 3 * this.count);
    this.color.set(color).toArray(this.colors, 3 * this.count);
    this.count += 1;
  }

  done() {
    const { geometry } = this.object;
    geometry.setDrawRange(0, this.count);
    geometry.attributes.position.needsUpdate = true;
    geometry.attributes.color.needsUpdate = true;
    this.object.visible = this.count > 0;
  }
}

export class Contacts {
  constructor(world) {
    this.world = world;
    const { scene, drawing } = world;
    this.shown = { points: true, forces: true, cones: false, polygons: true, springs: true, marks: true };
    this.scale = 1; // the user's, of arrows
    this.weight = drawing.mass * Math.max(Math.hypot(...drawing.gravity), 1);
    this.points = new Copies(scene, new THREE.SphereGeometry(1, 12, 8));
    this.shafts = new Copies(scene, new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0).rotateX(Math.PI / 2));
    this.heads = new Copies(scene, new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0).rotateX(Math.PI / 2));
    this.wires = new Copies(scene, new THREE.CylinderGeometry(1, 1, 1, 6).translate(0, 0.5, 0).rotateX(Math.PI / 2), {}, 4 * MOST);
    this.wires.mesh.renderOrder = 11; // over the arrows, which begin at the same points
    const cone = new THREE.ConeGeometry(1, 1, 24, 1, true).translate(0, -0.5, 0).rotateX(-Math.PI / 2);
    this.cones = new Copies(scene, cone, { opacity: 0.16, side: THREE.DoubleSide });
    const see = { vertexColors: true, depthTest: false, transparent: true, fog: false };
    this.lines = new Strokes(scene, (g) => new THREE.LineSegments(g, new THREE.LineBasicMaterial(see)), 40000);
    this.areas = new Strokes(scene, (g) => new THREE.Mesh(g, new THREE.MeshBasicMaterial(
      { ...see, opacity: 0.35, side: THREE.DoubleSide })), 20000);
    this.matrix = new THREE.Matrix4();
    this.vectors = Array.from({ length: 4 }, () => new THREE.Vector3());
    this.turn = new THREE.Quaternion();
  }

  show(frame) {
    const parts = [this.points, this.shafts, this.heads, this.wires, this.cones, this.lines, this.areas];
    parts.forEach((part) => part.clear());
    this.#contacts(frame.contacts);
    if (this.shown.polygons) this.#polygons(frame.corners);
    this.#lines(frame.lines);
    if (this.shown.marks) this.#marks(frame.marks);
    parts.forEach((part) => part.done());
  }

  #contacts(rows) {
    const unit = this.world.unit;
    const [point, normal, force, size] = this.vectors;
    for (let at = 0; at < rows.length; at += 11) {
      const state = rows[at + 10];
      const color = STATES[state];
      point.fromArray(rows, at);
      normal.fromArray(rows, at + 3);
      force.fromArray(rows, at + 6);
      if (this.shown.points) {
        const radius = (state ? 0.022 : 0.012) * unit;
        this.points.add(this.matrix.compose(point, this.turn.identity(), size.setScalar(radius)), color);
      }
      if (!state) continue;
      if (this.shown.forces) this.arrow(point, force, ARROW_SCALE * this.scale * this.world.thing / this.weight, color);
      if (this.shown.cones) {
        const height = 0.22 * unit;
        this.turn.setFromUnitVectors(Z, normal);
        size.set(rows[at + 9] * height, rows[at + 9] * height, height);
        this.cones.add(this.matrix.compose(point, this.turn, size), color);
      }
    }
  }

  arrow(from, vector, scale, color) {
    const unit = this.world.unit;
    const length = Math.min(vector.length() * scale, LONGEST * unit);
    if (length < 0.01 * unit) return;
    const head = Math.min(0.11 * unit, 0.5 * length);
    const along = vector.normalize();
    this.turn.setFromUnitVectors(Z, along);
    const size = this.vectors[3];
    size.set(0.016 * unit, 0.016 * unit, length - head);
    this.shafts.add(this.matrix.compose(from, this.turn, size), color);
    from.addScaledVector(along, length - head);
    this.heads.add(this.matrix.compose(from, this.turn, size.set(0.4 * head, 0.4 * head, head)), color);
  }

  #polygons(rows) {
    let begin = 0;
    for (let at = 0; at < rows.length; at += 5) {
      const color = STATES[rows[at + 4]];
      const last = at + 5 >= rows.length || rows[at + 8] !== rows[at + 3];
      const next = last ? begin : at + 5;
      for (const k of [at, next]) this.lines.add(rows[k], rows[k + 1], rows[k + 2], color);
      if (at >= begin + 10) {
        for (const k of [begin, at - 5, at]) this.areas.add(rows[k], rows[k + 1], rows[k + 2], color);
      }
      if (last) begin = at + 5;
    }
  }

  #lines(rows) {
    for (let at = 0; at < rows.length; at += 7) {
      if (rows[at + 6] === 1) { // the pull of a mouse
        this.#rod(rows, at);
      } else if (this.shown.springs) {
        this.#coil(rows, at);
      }
    }
  }

  // The mouse's spring: a line as thick as an arrow's shaft, with a knob at both ends.
  #rod(rows, at) {
    const { unit } = this.world;
    const [from, along, , size] = this.vectors;
    for (const k of [at, at + 3]) {
      from.fromArray(rows, k);
      this.points.add(this.matrix.compose(from, this.turn.identity(), size.setScalar(0.03 * unit)), COLORS.pull);
    }
    from.fromArray(rows, at);
    along.fromArray(rows, at + 3).sub(from);
    const length = along.length();
    if (length < 1e-9) return;
    this.turn.setFromUnitVectors(Z, along.divideScalar(length));
    this.shafts.add(this.matrix.compose(from, this.turn, size.set(0.016 * unit, 0.016 * unit, length)), COLORS.pull);
  }

  // A contact's spring as a zigzag out of the host; its depth, far too small to see, is drawn 30 times as large.
  #coil(rows, at) {
    const unit = this.world.unit;
    const [foot, along, side, size] = this.vectors;
    foot.fromArray(rows, at);
    along.set(rows[at] - rows[at + 3], rows[at + 1] - rows[at + 4], rows[at + 2] - rows[at + 5]);
    const depth = along.length();
    if (depth < 1e-9) return;
    along.divideScalar(depth);
    side.set(Math.abs(along.x) < 0.9 ? 1 : 0, Math.abs(along.x) < 0.9 ? 0 : 1, 0).cross(along).normalize();
    const length = Math.max(0.24 * unit - 30 * depth, 0.05 * unit);
    const swing = (k) => (k === 0 || k === ZIGZAG ? 0 : (k % 2 ? 0.06 : -0.06) * unit);
    const way = new THREE.Vector3();
    for (let k = 0; k < ZIGZAG; k++) { // from one turn to the next
      way.copy(along).multiplyScalar(length / ZIGZAG).addScaledVector(side, swing(k + 1) - swing(k));
      const reach = way.length();
      this.turn.setFromUnitVectors(Z, way.clone().divideScalar(reach));
      this.wires.add(this.matrix.compose(foot, this.turn, size.set(0.011 * unit, 0.011 * unit, reach)), COLORS.spring);
      foot.add(way);
    }
  }

  #marks(rows) {
    const size = 0.05 * this.world.unit;
    for (let at = 0; at < rows.length; at += 4) {
      const place = this.vectors[0].fromArray(rows, at + 1);
      const color = rows[at] === 0 ? COLORS.center : COLORS.moment;
      this.points.add(this.matrix.compose(place, this.turn.identity(), this.vectors[3].setScalar(rows[at] === 0 ? size : 0.7 * size)), color);
      if (rows[at] === 1) { // a cross on the floor
        for (const [x, y] of [[-3, 0], [3, 0], [0, -3], [0, 3]]) {
          this.lines.add(place.x + x * size, place.y + y * size, place.z, color);
        }
      }
    }
  }
}
