// What nobody should get away with: links, reports, traces and CSV that are huge, deep, no numbers, scripts,
// or claim a basis of their own. Each must be refused with a reason, and nothing of it drawn as a point.
const blob = (o) => Buffer.from(typeof o === 'string' ? o : JSON.stringify(o)).toString('base64url');
const good = { m: 'Qwen/Qwen2-7B', N: 7, a: 'ada', p: 'NF4', e: -30, b: 'measured', g: 'RTX 4090' };
const link = (o) => `?tab=run&overlay=${blob(o)}`;
const without = (key) => Object.fromEntries(Object.entries(good).filter(([k]) => k !== key));
const deep = (n, open, close) => open.repeat(n) + close.repeat(n);

/** Links to the overlay. */
export const LINKS = [
  ['huge blob', `?tab=run&overlay=${'A'.repeat(16_000)}`],
  ['no base64', '?tab=run&overlay=%%%'],
  ['base64 of nothing', '?tab=run&overlay=e30'],
  ['an array', link('[1,2,3]')],
  ['a number', link('7')],
  ['null', link('null')],
  ['half an object', link('{"m":"x","N":7')],
  ['deep arrays', link(`{"m":${deep(900, '[', ']')}}`)],
  ['deep objects', link(deep(900, '{"a":', '') + '1' + '}'.repeat(900))],
  ['NaN size', link('{"m":"x","N":NaN,"a":"ada","p":"NF4","e":-30,"b":"measured"}')],
  ['infinite change', link('{"m":"x","N":7,"a":"ada","p":"NF4","e":1e999,"b":"measured"}')],
  ['negative size', link({ ...good, N: -7 })],
  ['size zero', link({ ...good, N: 0 })],
  ['change below -100 %', link({ ...good, e: -250 })],
  ['no change', link(without('e'))],
  ['no size', link(without('N'))],
  ['a boolean change', link({ ...good, e: true })],
  ['an object for a change', link({ ...good, e: { valueOf: 1 } })],
  ['bad UTF-8', `?tab=run&overlay=${Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]).toString('base64url')}`],
  ['a NUL inside', link('{"m":"x\\u0000y"}')],
];

/** Whole links that no control takes. */
export const ADDRESSES = [
  ['a script as tab', '?tab=<script>alert(1)</script>'],
  ['an image as tab', '?tab="><img src=x onerror=alert(1)>'],
  ['a card that is a script', '?tab=model&gpu=<svg/onload=alert(1)>'],
  ['a precision nobody has', '?tab=model&precision=NF5'],
  ['batch NaN', '?tab=model&batch=NaN'],
  ['batch infinite', '?tab=model&batch=1e999'],
  ['size negative', '?tab=model&params_b=-1&model='],
  ['context of words', '?tab=model&ctx=many'],
  ['power NaN', '?tab=diagnose&power_w=NaN'],
  ['throughput negative', '?tab=diagnose&throughput=-3'],
  ['a calibration of their own', '?tab=model&calibration=mine'],
  ['prototype', '?__proto__=1&tab=model'],
  ['a row that is none', '?tab=data&row=<b>x</b>'],
];

/** Texts dropped as energy.json; `sound` is a report that is valid. */
export const documents = (sound) => {
  const change = (edit) => {
    const d = JSON.parse(sound);
    edit(d);
    return JSON.stringify(d);
  };
  return [
    ['empty', ''],
    ['half', sound.slice(0, sound.length / 2)],
    ['deep arrays', deep(50_000, '[', ']')],
    ['deep objects', '{"a":'.repeat(20_000)],
    ['one long string', JSON.stringify({ schema_version: 'x'.repeat(400_000) })],
    ['NaN', sound.replace(/"energy_per_token_mj": *[\d.]+/, '"energy_per_token_mj": NaN')],
    ['a basis of their own', change((d) => { d.results.basis = 'peer-reviewed'; })],
    ['a script for a basis', change((d) => { d.results.basis = '<script>alert(1)</script>'; })],
    ['negative energy', change((d) => { d.results.energy_per_token_mj = -5; })],
    ['a list for results', change((d) => { d.results = [d.results]; })],
  ];
};

/** Texts dropped as trace.csv. */
export const TRACES = [
  ['no columns', 'a,b\n1,2\n'],
  ['words', 't_s,source,power_default_w\nnow,x,lots\n'],
  ['not a number', 't_s,source,power_default_w\n0,x,NaN\n1,x,NaN\n'],
  ['one sample', 't_s,source,power_default_w\n0,x,50\n'],
];

/** Texts pasted as points of a fit. */
export const POINTS = [
  ['no columns', 'x\n1\n'],
  ['a class that is a script', 'arch,precision,params_b,delta_pct\n<script>,NF4,7,-3\n'],
  ['size NaN', 'arch,precision,params_b,delta_pct\nada,NF4,NaN,-3\n'],
];
