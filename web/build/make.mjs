// make web: types, bundle, engine, then the page as one file that opens from disk.
//   node web/build/make.mjs ENGINE.wasm OUT      writes OUT/web/ and OUT/ecocompute.html
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const [wasm, out] = process.argv.slice(2).map((p) => path.resolve(p));
const web = path.dirname(import.meta.dirname);
const folder = path.join(out, 'web');

function run(file, args, env = {}) {
  const bin = path.join(web, '..', 'node_modules', file);
  const done = spawnSync(process.execPath, [bin, ...args], { stdio: 'inherit', env: { ...process.env, ...env } });
  if (done.status !== 0) process.exit(done.status ?? 1);
}

run('typescript/bin/tsc', ['-p', path.join(web, 'tsconfig.json')]);
run('vite/bin/vite.js', ['build', '-c', path.join(web, 'vite.config.mjs')], { ECO_WEB_OUT: folder });

// Packed here and unpacked in the page, so that it is as small from a server that packs nothing.
// zopfli's gzip is 3 % smaller than gzip's, which is 2 % smaller than Node's.
function pack(file) {
  for (const words of [['zopfli', '-c', '--i5', file], ['gzip', '-9', '-n', '-c', file]]) {
    const done = spawnSync(words[0], words.slice(1), { maxBuffer: 1 << 26 });
    if (done.status === 0) return done.stdout;
  }
  return gzipSync(fs.readFileSync(file), { level: 9 });
}
const engine = pack(wasm);
engine[9] = 255; // the system field: the same bytes on every machine
fs.writeFileSync(path.join(folder, 'engine.bin'), engine);

const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const script = read('page.js').replaceAll('</script', '<\\/script').trim();
const style = read('page.css').trim();
const policy = `default-src 'none'; script-src ${hash(script)} 'wasm-unsafe-eval'; style-src ${hash(style)}; img-src data: blob:; base-uri 'none'; form-action 'none'`;
let html = read('index.html')
  .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
  .replace(/<script type="module"[^>]*><\/script>/, '')
  .replace(/(http-equiv="Content-Security-Policy"\s+content=")[^"]*/, (_, start) => start + policy)
  .replace('</body>', () => `<script type="application/octet-stream" id="engine">${engine.toString('base64')}</script>\n<script type="module">${script}</script>\n</body>`);
if (/(?:src|href)="(?!data:|#)/.test(html.split('<script type="application')[0])) throw new Error('the single file still points outside');
fs.writeFileSync(path.join(out, 'ecocompute.html'), html);

let total = 0;
for (const name of fs.readdirSync(folder)) {
  const bytes = fs.readFileSync(path.join(folder, name));
  const packed = name === 'engine.bin' ? bytes.length : gzipSync(bytes, { level: 9 }).length;
  total += packed;
  console.log(`${String(bytes.length).padStart(9)} bytes, ${String(packed).padStart(7)} packed  web/${name}`);
}
console.log(`${String(fs.statSync(path.join(out, 'ecocompute.html')).size).padStart(9)} bytes                   ecocompute.html`);
console.log(`page weight ${(total / 1000).toFixed(0)} kB packed (budget 600 kB)`);
if (total > 600_000) process.exit(1);
