// The same question to the program and to the page's engine: 1 000 seeded requests over every pure
// operation, valid and invalid. Texts, kinds and member names must be equal, numbers within 1e-9
// relative, and any figure that is printed (a text, a table) the same character for character.
//   node same.mjs PROGRAM ENGINE.wasm [N] [SEED]
import { spawnSync } from 'node:child_process';
import { load } from './engine.mjs';

const [program, wasm, count = '1000', seed = '7'] = process.argv.slice(2);
const engine = await load(wasm);
const schema = engine.schema();

let state = Number(seed) >>> 0;
function random() { // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const pick = (list) => list[Math.floor(random() * list.length)];

const QUESTIONS = ['Is NF4 worth it for Qwen2.5-3B on an RTX 4090?', '13B on A100, 4bit, batch 32',
  'Mistral-7B on A800, 1 million requests per month', '批大小32，上下文8k，A100 INT8 13B', '100万字, 7B, T4',
  "don't want int8 for 7B on a 5090", 'hello', 'H100 70B fp8 cost 8 hours a day', '一块4090跑13B要不要量化', ''];
const CODE = ['BitsAndBytesConfig(load_in_8bit=True)', 'x = 1\n',
  "m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-1.5B', load_in_4bit=True)\n",
  "for p in prompts:\n    model.generate(**tok(p, return_tensors='pt'))\n", "LLM('x', enforce_eager=True)"];

// A value for a parameter from its row: mostly good, now and then not.
function value(op, name, row) {
  const list = op.lists[name] && schema.lists[op.lists[name]];
  const bad = BATCH.has(op.name) && random() < 0.04;
  if (bad) return pick([-1, 'no-such-thing', 1e300, [], true, null, '']);
  if (op.name === 'ask' && row.type === 'string' && !row.enum) return pick(QUESTIONS);
  if (op.name === 'audit' && name === 'text') return pick(CODE);
  if (op.name === 'audit' && name === 'name') return pick(['code.py', 'a.sh', 'requirements.txt']);
  if (op.name === 'report' && name === 'document') return pick(documents);
  if (op.name === 'report' && name === 'action') return pick(row.enum.filter((a) => !ELSEWHERE.has(a)));
  if (row.enum) return pick(row.enum);
  if (row.type === 'boolean') return random() < 0.5;
  if (row.type === 'array') {
    const n = 1 + Math.floor(random() * 3), inner = { ...row.items };
    return Array.from({ length: n }, () => list ? pick(list) : inner.type === 'number' ? pick([1, 2, 8, 32, 2048]) : 'x');
  }
  if (list) return pick(list);
  if (row.type === 'integer') return pick([1, 2, 4, 7, 16, 64, 512, 2048, 8192]);
  if (row.type === 'number') {
    const lo = Math.max(row.minimum ?? row.exclusiveMinimum ?? 0, 0.01);
    const hi = Math.min(row.maximum ?? 1e6, 1e6);
    return Number((lo * (hi / lo) ** random()).toPrecision(1 + Math.floor(random() * 6)));
  }
  return pick(['Qwen2.5-7B', '7B', 'x', '']);
}

const ELSEWHERE = new Set(['sign', 'verify', 'keygen', 'compare', 'import']); // keys and files
const BATCH = new Set(['estimate', 'optimize', 'compare', 'diagnose', 'cost', 'ask']);
const WEIGHT = { estimate: 30, optimize: 12, compare: 12, diagnose: 10, cost: 12, ask: 8, audit: 4, report: 4, data: 3, gpus: 2, models: 2, version: 1 };
const pure = schema.operations.filter((op) => WEIGHT[op.name]);
const documents = ['{}', 'not json', 'https://quantenergy.tech/?tab=run&overlay=AAAA'];
const table = pure.flatMap((op) => Array(WEIGHT[op.name]).fill(op));

function request() {
  const op = pick(table);
  const names = Object.keys(op.parameters.properties);
  const args = {};
  const common = { model: 0.5, params_b: 0.4, gpu: 0.8, precision: 0.7, question: 1, text: 0.9, action: 0.95, document: 0.8, lang: 0.15 };
  for (const name of names) {
    if (random() < (common[name] ?? 0.08)) args[name] = value(op, name, op.parameters.properties[name]);
  }
  if (args.model && random() < 0.9) delete args.params_b;
  const asks = 'params_b' in op.parameters.properties && op.name !== 'audit';
  if (asks && !args.model && !args.params_b && random() < 0.9) args.params_b = pick([0.5, 1.1, 3, 7, 13, 70]);
  if (asks && !args.gpu && random() < 0.9) args.gpu = pick(schema.lists['@gpu']);
  if (args.gpu && random() < 0.9) delete args.arch;
  if (args.calibration === 'published' && random() < 0.7) delete args.calibration;
  if (args.action === 'audit' && op.name === 'data') args.action = 'list'; // reads a file
  if (BATCH.has(op.name) && random() < 0.02) args.surprise = 1;
  return { op: op.name, json: JSON.stringify(args) };
}

const fixed = spawnSync(program, ['report', 'build', '--model', 'TinyLlama-1.1B-Chat-v1.0', '--gpu', 'rtx4090', '--precision', 'NF4'], { encoding: 'utf8' });
documents.push(fixed.stdout);
const requests = Array.from({ length: Number(count) }, request);

// The request as words of a command line.
function words(r) {
  const list = [r.op];
  for (const [k, v] of Object.entries(JSON.parse(r.json))) {
    if (v === null || v === false) continue;
    list.push(`--${k.replaceAll('_', '-')}${v === true ? '' : `=${Array.isArray(v) ? v.join(',') : v}`}`);
  }
  return list;
}
const ENV = { PATH: process.env.PATH }; // no card of this machine, no colour

// An answer by command line; an error has only its text there.
function one(r) {
  const run = spawnSync(program, [...words(r), '--json'], { encoding: 'utf8', maxBuffer: 1 << 28, env: ENV });
  return run.stdout || JSON.stringify({ error: run.stderr.trim().replace(/^ecocompute: /, '').split('\n')[0] });
}

// The program's answers: batch files where the operation takes them, else one run each.
function nativeAnswers() {
  const answers = new Array(requests.length);
  for (const op of pure) {
    const mine = requests.map((r, i) => [r, i]).filter(([r]) => r.op === op.name);
    if (!mine.length) continue;
    if (!BATCH.has(op.name)) {
      mine.forEach(([r, i]) => { answers[i] = one(r); });
      continue;
    }
    const run = spawnSync(program, [op.name, '--batch-file', '-'], {
      input: mine.map(([r]) => r.json + '\n').join(''), encoding: 'utf8', maxBuffer: 1 << 28,
      env: ENV });
    if (run.status !== 0) throw new Error(`${op.name}: ${run.stderr}`);
    const lines = run.stdout.split('\n');
    mine.forEach(([, i], k) => { answers[i] = lines[k]; });
  }
  return answers;
}

let figures = 0, worst = 0;
function compare(a, b, path) {
  if (typeof a === 'number' && typeof b === 'number') {
    figures++;
    const relative = a === b ? 0 : Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
    worst = Math.max(worst, relative);
    return relative <= 1e-9 ? null : `${path}: ${a} and ${b}`;
  }
  if (a && b && typeof a === 'object' && typeof b === 'object') {
    const ka = Object.keys(a), kb = Object.keys(b);
    if (ka.join() !== kb.join()) return `${path}: members differ`;
    for (const k of ka) {
      const why = compare(a[k], b[k], `${path}/${k}`);
      if (why) return why;
    }
    return null;
  }
  if (a === b) return null;
  const unlike = [...String(a)].findIndex((c, i) => c !== String(b)[i]); // where the texts part
  const at = Math.max(0, unlike - 40);
  return `${path}: ${JSON.stringify(String(a).slice(at, at + 120))} and ${JSON.stringify(String(b).slice(at, at + 120))}`;
}

// A report says when it was made.
const timeless = (text) => text.replace(/(\\"timestamp_utc\\": \\")[^"\\]*/, '$1');
const native = nativeAnswers();
let wrong = 0, errors = 0, identical = 0;
const perOp = {}, reasons = {};
requests.forEach((r, i) => {
  const page = engine.call(r.op, r.json).text;
  let why;
  try {
    const a = JSON.parse(timeless(native[i]));
    let b = JSON.parse(timeless(page));
    if (typeof a.error === 'string' && b.error) b = { error: b.error.message };
    perOp[r.op] = (perOp[r.op] ?? 0) + 1;
    if (a.error) reasons[a.error.code ?? 'text'] = (reasons[a.error.code ?? 'text'] ?? 0) + 1;
    errors += 'error' in a ? 1 : 0;
    identical += native[i].trim() === page ? 1 : 0;
    why = compare(a, b, '');
  } catch (e) {
    why = `${e.message}: ${String(native[i]).slice(0, 200)}`;
  }
  if (why && wrong++ < 10) console.error(`${r.op} ${r.json}\n  program and page differ: ${why}`);
});

// Printed figures: the answer as Markdown, character for character, for every tenth request.
let texts = 0;
for (const r of requests.filter((q, i) => i % 10 === 0 && ['estimate', 'optimize', 'compare', 'cost'].includes(q.op))) {
  const page = engine.call(r.op, r.json, 2);
  if (page.status > 1) continue;
  const run = spawnSync(program, [...words(r), '--format', 'markdown'], { encoding: 'utf8', env: ENV });
  texts++;
  if (run.stdout !== page.text && wrong++ < 10) {
    const a = run.stdout.split('\n'), b = page.text.split('\n');
    const k = a.findIndex((line, n) => line !== b[n]);
    console.error(`${words(r).join(' ')}\n  printed: ${a[k]}\n  in page: ${b[k]}\n  ${run.stderr}`);
  }
}
console.log(`${requests.length} requests (${errors} wrong on purpose), ${figures} numbers, worst relative difference ` +
  `${worst.toExponential(1)}, ${identical} answers identical byte for byte, ${texts} printed answers compared`);
console.log(Object.entries(perOp).map(([k, v]) => `${k} ${v}`).join(', '), '; errors', JSON.stringify(reasons));
if (errors < requests.length / 50 || errors > requests.length / 2 || figures < 20 * requests.length) {
  console.error('the requests are too easy or too wrong to prove anything');
  wrong++;
}
process.exit(wrong ? 1 : 0);
