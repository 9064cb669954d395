// A frame: a row of float32 with a header that says how long its parts are. The layout comes from the server.

export function decode(buffer, layout, byteOffset = 0) {
  const names = layout.header;
  const all = new Float32Array(buffer, byteOffset);
  const head = {};
  names.forEach((name, i) => { head[name] = all[i]; });
  let at = names.length;
  const take = (count, width) => {
    const part = all.subarray(at, at + count * width);
    at += count * width;
    return part;
  };
  return {
    head,
    poses: take(head.bodies, 7),
    contacts: take(head.contacts, layout.contact),
    corners: take(head.corners, layout.corner),
    lines: take(head.lines, layout.line),
    marks: take(head.marks, layout.mark),
    floats: at, // length of the frame
  };
}
