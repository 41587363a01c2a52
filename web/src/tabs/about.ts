// About and method: what the words mean, where the numbers come from, what they are not.
import { ask } from '../engine';
import { h, num } from '../dom';
import { language, t } from '../i18n';
import { fill, inside, tag } from '../parts';
import { rows } from '../rows';

interface Version {
  version: string;
  data_sha256: string;
  rows: number;
  pairs: number;
  grades: string;
}

type Text = [string, string];
const BASES: [string, Text][] = [
  ['measured', ['this very size, card and precision was measured', '该规模、显卡、精度有实测']],
  ['interpolated', ['between measured sizes of this card or class', '在此卡或同类卡的实测规模之间']],
  ['extrapolated', ['beyond what was measured; the band is as wide as that', '超出实测范围，区间相应变宽']],
  ['modelled', ['from a physical model fitted to measurements, such as the batch law', '由拟合实测的物理模型给出，例如批大小规律']],
  ['computed', ['arithmetic on exact shapes: bytes, money', '由精确结构直接计算：字节、金额']],
  ['unverified', ['said by a shared link; nobody has checked it', '来自分享链接，未经核实']],
  ['unavailable', ['no data: said, not filled in', '没有数据：如实说明，不填补']],
];
const PARTS: [Text, Text[]][] = [
  [['The question', '问题'], [[
    'On this GPU, for this model, does quantization lower the energy per token or raise it, and what should be deployed? 4-bit weights are a quarter of the bytes, but they must be unpacked. On small models, or in large batches, unpacking costs more than the bytes save.',
    '在这块 GPU 上，对这个模型，量化是降低还是提高每 token 能耗？该部署什么？4 位权重的字节数只有四分之一，但需要解包。小模型或大批量时，解包的代价会超过省下的访存。']]],
  [['How a number is made', '数字如何得出'], [[
    'Pairs of runs, quantized and 16 bit on the same card in the same session, are the data. A Gaussian mixed model over size, card, precision, engine and batch predicts the change for a session like yours. Its bands hold 50, 80 and 95 % of such sessions; left-out sessions check that they do.',
    '数据是成对运行：同一张卡、同一会话中的量化与 16 位。高斯混合模型以规模、显卡、精度、引擎和批大小预测您这样的会话中的变化。区间覆盖 50、80、95 % 的此类会话，并用留出会话检验。'], [
    'The page computes with the same C code as the command line, compiled to WebAssembly. A test sends 1 000 requests through both and compares every field.',
    '本页与命令行使用同一份 C 代码（编译为 WebAssembly）。测试把 1 000 个请求送入两者并逐字段比较。']]],
  [['What these numbers are not', '这些数字不是什么'], [[
    'Not wall power: most joules are GPU board power; CPU, memory, power supply and cooling are outside unless a row says otherwise. Not a certified benchmark. Not a statement about quantization in general: about the named kernels on the named cards; another kernel can turn the sign.',
    '不是墙上功率：大多数焦耳是 GPU 板卡功率，除非数据行另有说明，否则不含 CPU、内存、电源与散热。不是认证基准。也不是对量化的一般性结论：只针对所列内核与显卡，换个内核符号可能反转。'], [
    'A card’s power limit (TDP) is never used as power.', '从不把显卡功耗上限（TDP）当作功率。']]],
  [['Marks in the charts', '图中的标记'], [[
    'Filled dots were repeated (n of two or more), hollow dots were measured once. Lines are solid only between measured sizes. The filled diamond is the asked model, an open one is a measurement laid over.',
    '实心点为重复测量（n ≥ 2），空心点只测过一次。实线只连接实测规模之间。实心菱形为所问模型，空心菱形为叠加的测量。']]],
];

export function show(panel: HTMLElement): void {
  const at = (text: Text): string => text[language() === 'zh' ? 1 : 0];
  const told = ([title, list]: [Text, Text[]]): HTMLElement => h('section', null, h('h2', null, at(title)), ...list.map((p) => h('p', null, at(p))));
  const reply = ask<Version>('version', {});
  const v = 'result' in reply ? reply.result : null;
  fill(panel, h('article', { class: 'prose' },
    ...PARTS.slice(0, 2).map(told),
    h('section', null, h('h2', null, at(['How a number is known', '依据标签'])),
      h('dl', { class: 'lines' }, BASES.map(([b, text]) => h('div', null, h('dt', null, tag(b)), h('dd', null, at(text)))))),
    ...PARTS.slice(2).map(told),
    h('section', null, h('h2', null, t('tab.data')),
    v ? h('p', null, `ecocompute ${v.version} · ${num(rows().length)} ${t('rows')}`) : null,
    v ? h('p', null, `${t('own')}: ${num(v.rows)} ${t('rows')}, ${num(v.pairs)} ${t('pairs')} · ${v.grades.replace(/ \(.*/, '')}`) : null,
    v ? h('p', { class: 'quiet' }, 'SHA-256 ', h('code', { class: 'wrap' }, v.data_sha256)) : null,
    h('p', null, 'CC BY 4.0, doi:', h('a', { href: 'https://doi.org/10.5281/zenodo.19647290', rel: 'noreferrer' }, '10.5281/zenodo.19647290'), '. ', inside({ tab: 'data', row: '', card: '', prec: '' }, {}, t('all.rows'))))));
}
