// The WebAssembly engine in Node, for the tests: load(path) -> {call, chart, schema}.
import fs from 'node:fs';

export async function load(path) {
  const module = await WebAssembly.compile(fs.readFileSync(path));
  const imports = WebAssembly.Module.imports(module);
  if (imports.length) throw new Error(`the module imports ${JSON.stringify(imports)}`);
  const { exports: x } = await WebAssembly.instantiate(module, {});
  const encoder = new TextEncoder(), decoder = new TextDecoder();
  const output = () => decoder.decode(new Uint8Array(x.memory.buffer, x.out(), x.out_len()));
  x._initialize();
  if (x.start() !== 0) throw new Error(output());
  const put = (...texts) => {
    const bytes = texts.map((t) => encoder.encode(t));
    const at = x.in(bytes.reduce((n, b) => n + b.length, 0));
    if (!at) throw new Error('too much input');
    let p = at;
    for (const b of bytes) {
      new Uint8Array(x.memory.buffer).set(b, p);
      p += b.length;
    }
    return bytes.map((b) => b.length);
  };
  return {
    call(op, json, format = 0, now = 0) {
      const [a, b] = put(op, json);
      return { status: x.call(a, b, format, now), text: output() };
    },
    chart(kind, json, now = 0) {
      const [a, b] = put(kind, json);
      return { status: x.chart(a, b, now), text: output() };
    },
    schema() {
      x.schema();
      return JSON.parse(output());
    },
  };
}
