// Makes num_js.txt: what JavaScript itself prints and reads. node make_num_js.mjs > num_js.txt
// Lines: "f BITS String(x) toFixed(0) toFixed(1) toFixed(2) toFixed(3) toFixed(6) toFixed(12)"
// and "p TEXT BITS" for Number(text). Bits are the double's, in hexadecimal.
const f = new Float64Array(1);
const u = new BigUint64Array(f.buffer);
const places = [0, 1, 2, 3, 6, 12];
let state = 20261130n;
const random = () => {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return BigInt.asUintN(64, (state >> 33n) ^ (state << 17n));
};
const bits = (x) => { f[0] = x; return u[0].toString(16).padStart(16, '0'); };
const fromBits = (b) => { u[0] = b; return f[0]; };
const unit = () => Number(random() & 0xfffffffffffffn) / 2 ** 52;
const xs = [0, -0, 1, -1, 0.1, 0.5, -0.5, 1.5, 2.5, 0.05, 1.005, 1.45, 8.345, -2.345, 123.456,
  1e21, 1e21 - 131072, -1e21, 1e-7, 1e-6, 9.5e-7, 5e-324, 1.7976931348623157e308, 9007199254740993,
  9007199254740991, 4503599627370496.5, 4503599627370495.5, 584703454916770.25, 5e-7, 0.0000005,
  -0.001, 0.000001, 123456789012345680000, 999999.9999995, 0.9999999999995, 2 ** -1074, 2 ** 70];
for (let e = 0n; e < 2047n; e += 29n) {
  xs.push(fromBits(e << 52n), fromBits((e << 52n) | 0xfffffffffffffn), -fromBits((e << 52n) | 1n));
}
for (let i = 0; i < 90; i++) {
  const any = fromBits(random());
  if (Number.isFinite(any)) xs.push(any);
  xs.push(unit() * 10 ** (i % 25 - 8));
  xs.push(-Math.round(unit() * 1e6) / 10 ** (i % 9));
  xs.push(Math.round(unit() * 2 ** (i % 50)) / 2 ** (i % 12));
  xs.push((Math.round(unit() * 1e5) + 0.5) / 10 ** (i % 8));
}
for (const x of xs) {
  console.log(['f', bits(x), String(x), ...places.map((k) => x.toFixed(k))].join(' '));
}
const texts = ['0', '-0', '0e999999999999', '1e-400', '-1e-400', '2.4703282292062327e-324',
  '2.4703282292062328e-324', '1.7976931348623158e308', '1e22', '1e23', '9007199254740993',
  '9007199254740992999999', '0.1', '123456789012345678901234567890', '6250000000000000e-16',
  '2.2250738585072011e-308', '2.2250738585072012e-308', '8.5e-3', '1E5', '1e+5', '0.000001e6',
  '9007199254740993.0000000000000000000000000000000000000000000000000001',
  '9007199254740993' + '0'.repeat(60) + 'e-60', '0.' + '0'.repeat(330) + '1e330',
  '5e-325', '4.9406564584124654e-324', '17976931348623157000e289'];
for (let i = 0; i < 150; i++) {
  const digits = 1 + i % 30;
  let text = '';
  while (text.length < digits) text += random().toString();
  text = text.slice(0, digits).replace(/^0+(?=.)/, '');
  if (i % 3) text += '.' + random().toString().slice(0, 1 + i % 17);
  if (i % 2) text += `e${Number(random() % 600n) - 300}`;
  if (Number.isFinite(Number(text))) texts.push(text);
}
for (const text of texts) {
  console.log(['p', text, bits(Number(text))].join(' '));
}
