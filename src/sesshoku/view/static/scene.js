// World: the bodies of a scene as three.js objects, with ground, grid, lights and shadows.

import { THREE } from "three-bundle";
import { Contacts } from "sesshoku/contacts";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const GROUND_SIZE = 400; // m: far enough to end in the haze

function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function meshGeometry({ vertices, faces }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(bytesOf(vertices).buffer), 3));
  geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(bytesOf(faces).buffer), 1));
  const flat = geometry.toNonIndexed(); // each triangle its own normal: edges stay sharp
  flat.computeVertexNormals();
  return flat;
}

function shapeGeometry(shape, meshes) {
  switch (shape.kind) {
    case "box": return new THREE.BoxGeometry(...shape.size);
    case "sphere": return new THREE.SphereGeometry(shape.radius, 32, 20);
    case "ellipsoid": return new THREE.SphereGeometry(1, 32, 20).scale(...shape.radii);
    case "capsule": return new THREE.CapsuleGeometry(shape.radius, shape.length, 8, 24).rotateX(Math.PI / 2);
    case "cylinder": return new THREE.CylinderGeometry(shape.radius, shape.radius, shape.length, 32).rotateX(Math.PI / 2);
    case "plane": return new THREE.PlaneGeometry(GROUND_SIZE, GROUND_SIZE);
    default: return meshes[shape.mesh];
  }
}

function gridTexture() {
  const size = 2048;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, size, size);
  for (let i = 0; i <= 10; i++) {
    const strong = i % 10 === 0;
    context.fillStyle = strong ? "#99a1ad" : "#c3c9d2";
    const width = strong ? 6 : 4;
    for (const at of [Math.round(i * size / 10) - width / 2]) {
      context.fillRect(at, 0, width, size);
      context.fillRect(0, at, size, width);
    }
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

const extent = (box) => box.getSize(new THREE.Vector3()).length();

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length ? sorted[sorted.length >> 1] : 1;
}

export class World {
  // light: draw with less, for a processor that does it all
  constructor(drawing, light = false) {
    this.drawing = drawing;
    this.light = light;
    this.scene = new THREE.Scene();
    this.bodies = drawing.bodies.map((body, number) => {
      const group = new THREE.Group();
      group.name = body.name;
      group.userData = { number, moves: body.moves };
      this.scene.add(group);
      return group;
    });
    this.planes = [];
    const meshes = drawing.meshes.map(meshGeometry);
    for (const shape of drawing.shapes) this.#add(shape, meshes);
    this.#lights();
    this.start = Float32Array.from(drawing.poses.flat());
    this.unit = this.thing = 1; // m: what drawings at contacts go by; the size of a usual body or robot
    this.contacts = new Contacts(this);
    this.setPoses(this.start);
    this.#measure();
    DARK.addEventListener("change", () => this.colour());
  }

  #add(shape, meshes) {
    const [r, g, b, a] = shape.color;
    const color = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
    const plane = shape.kind === "plane";
    const see = { color, transparent: a < 1, opacity: a };
    const material = this.light ? new THREE.MeshLambertMaterial(see)
      : new THREE.MeshStandardMaterial({ ...see, roughness: 0.75, metalness: 0.05 });
    const mesh = new THREE.Mesh(shapeGeometry(shape, meshes), material);
    mesh.position.fromArray(shape.position);
    const [w, x, y, z] = shape.rotation;
    mesh.quaternion.set(x, y, z, w);
    mesh.castShadow = !plane;
    mesh.receiveShadow = true;
    mesh.userData.body = shape.body;
    if (plane) this.planes.push(mesh);
    this.bodies[shape.body].add(mesh);
  }

  #lights() {
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8bcc4, 1.6));
    this.sun = new THREE.DirectionalLight(0xffffff, 2.2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(this.light ? 512 : 1024);
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.02;
    this.scene.add(this.sun, this.sun.target);
  }

  colour() {
    const background = DARK.matches ? 0x1b2026 : 0xeef1f5;
    this.scene.background = new THREE.Color(background);
    if (this.scene.fog) this.scene.fog.color.set(background);
    for (const plane of this.planes) plane.material.color.set(DARK.matches ? 0x3a424c : 0xe3e7ec);
  }

  // poses: 7 numbers a body, position and quaternion w x y z
  setPoses(poses) {
    for (let i = 0, at = 0; i < this.bodies.length; i++, at += 7) {
      const body = this.bodies[i];
      body.position.set(poses[at], poses[at + 1], poses[at + 2]);
      body.quaternion.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
    }
  }

  show(frame) {
    this.setPoses(frame.poses);
    this.contacts.show(frame);
  }

  // At the start: where things are and how large, for camera, grid and shadows.
  #measure() {
    this.scene.updateMatrixWorld(true);
    const box = new THREE.Box3();
    const sizes = []; // of bodies
    const things = new Map(); // name of a robot, or of a body that belongs to none -> its box
    const measure = (moving) => {
      this.drawing.bodies.forEach(({ name, robot }, number) => {
        const body = this.bodies[number];
        if (moving && !body.userData.moves) return;
        const own = new THREE.Box3();
        for (const mesh of body.children) {
          if (!this.planes.includes(mesh)) own.expandByObject(mesh);
        }
        if (own.isEmpty()) return;
        box.union(own);
        sizes.push(extent(own));
        things.set(robot || name, (things.get(robot || name) || new THREE.Box3()).union(own));
      });
    };
    measure(true);
    if (box.isEmpty()) measure(false);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    this.#underneath(box);
    this.center = box.getCenter(new THREE.Vector3());
    this.radius = Math.max(extent(box) / 2, 0.05);
    this.thing = median([...things.values()].map(extent));
    this.unit = Math.sqrt(median(sizes) * this.thing); // between a robot's link and the whole robot
    this.scene.fog = new THREE.Fog(this.scene.background, 12 * this.radius, 40 * this.radius);
    this.colour();
    this.#grids();
    this.#shadows();
  }

  // Things that start in the air come down: the ground below them belongs to the view.
  #underneath(box) {
    const center = box.getCenter(new THREE.Vector3());
    const near = 1.5 * extent(box);
    for (const plane of this.planes) {
      const normal = new THREE.Vector3(0, 0, 1).transformDirection(plane.matrixWorld);
      const height = center.clone().sub(plane.getWorldPosition(new THREE.Vector3())).dot(normal);
      if (height > 0 && height < near) box.expandByPoint(center.clone().addScaledVector(normal, -height));
    }
  }

  // Squares of 1 m, 0.1 m ..., every tenth line stronger, as a texture: it fades with distance without flicker.
  #grids() {
    const cell = 10 ** Math.round(Math.log10(this.radius / 4));
    const texture = gridTexture();
    if (this.light) Object.assign(texture, { anisotropy: 2, minFilter: THREE.LinearMipmapNearestFilter });
    texture.repeat.setScalar(GROUND_SIZE / (10 * cell));
    for (const plane of this.planes) {
      plane.material.map = texture;
      plane.material.needsUpdate = true;
    }
    if (this.planes.length) return;
    const lines = new THREE.Mesh(new THREE.PlaneGeometry(GROUND_SIZE, GROUND_SIZE), new THREE.MeshBasicMaterial({
      map: texture, transparent: true, opacity: 0.35, depthWrite: false, side: THREE.DoubleSide }));
    lines.raycast = () => {};
    this.scene.add(lines);
  }

  // Shadows and haze for a run that goes farther than the start.
  widen(reach) {
    this.radius = Math.max(this.radius, reach);
    this.scene.fog.near = 12 * this.radius;
    this.scene.fog.far = 40 * this.radius;
    this.#shadows();
  }

  #shadows() {
    const reach = (this.radius > 4 ? 1.6 : 3) * this.radius;
    const camera = this.sun.shadow.camera;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 8 * reach });
    camera.updateProjectionMatrix();
    this.follow(this.center);
  }

  // The sun goes along with what is looked at, so that shadows stay sharp.
  follow(point) {
    const reach = (this.radius > 4 ? 1.6 : 3) * this.radius;
    this.sun.target.position.copy(point);
    this.sun.position.copy(point).add(new THREE.Vector3(1.5, -1.0, 2.2).multiplyScalar(reach));
  }

  // What a ray meets first: { body, point, plane } or null.
  pick(raycaster) {
    const hit = raycaster.intersectObjects(this.bodies, true).find((found) => found.object.isMesh);
    if (!hit || hit.object.userData.body === undefined) return null;
    return { body: this.bodies[hit.object.userData.body], point: hit.point, plane: this.planes.includes(hit.object) };
  }
}
