// The page in Chromium: every tab, both languages, both themes, three widths, links, drops, keys,
// the single file. Fails on any request to elsewhere, any error in the console, any axe violation.
//   node page.mjs DIST ENGINE.wasm SOURCE [PROGRAM] [--full]     --full: the whole matrix, real measurements
// By default each tab has axe once, so that every pair of language, theme and width is met; one browser, and one
// page where parts need nothing of their own. Nothing waits for a time.
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import AxeBuilder from '@axe-core/playwright';
import { load } from './engine.mjs';
import { go, launch, open, serve, settle, visit } from './browser.mjs';
import { more, POINTS_CSV } from './page_more.mjs';

const full = process.argv.includes('--full');
const [dist, wasm, source, program] = process.argv.slice(2).filter((a) => a !== '--full').map((p) => path.resolve(p));
const engine = await load(wasm);
const server = await serve(path.join(dist, 'web'));
const browser = await launch();
const TABS = ['tested', 'model', 'optimize', 'diagnose', 'cost', 'audit', 'run', 'data', 'about'];
const WIDTHS = [360, 768, 1280], THEMES = ['light', 'dark'], LANGUAGES = ['en', 'zh'];
const started = performance.now();
let passed = 0, failed = 0;

function check(name, holds, detail = '') {
  if (holds) passed++;
  else {
    failed++;
    console.error(`not ok: ${name} ${detail}`);
  }
}
// An address of the page: loaded only where the page is not there yet, for a load starts the engine anew.
const at = (page, query) => (page.url().startsWith(server.url) ? visit(page, query) : go(page, server.url + query));
const ask = (op, args) => JSON.parse(engine.call(op, JSON.stringify(args)).text);
const axe = async (page, name) => {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'], preload: false }).analyze(); // no frames: no page of its own
  check(`axe ${name}`, violations.length === 0, JSON.stringify(violations.map((v) => [v.id, v.nodes.slice(0, 3).map((n) => n.target.join(' '))])));
};
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const tab = async (page, name) => {
  await page.click(`#t-${name}`);
  await settle(page);
};
function clean(name, seen) {
  check(`${name}: no request elsewhere`, seen.outside.length === 0, seen.outside.join(' '));
  check(`${name}: no error`, seen.errors.length === 0, seen.errors.join(' | '));
  seen.outside.length = seen.errors.length = 0;
}
// One page for all parts that want this language; each starts it anew by an address.
const kept = new Map();
async function desk(locale = 'en-US') {
  if (!kept.has(locale)) kept.set(locale, await open(browser, { locale, viewport: { width: 1280, height: 900 }, acceptDownloads: true }));
  return kept.get(locale);
}

const parts = {
  // weight, first paint, policy, no cookies
  async start() {
    const weight = fs.readdirSync(path.join(dist, 'web')).reduce((n, f) => {
      const bytes = fs.readFileSync(path.join(dist, 'web', f));
      return n + (f === 'engine.bin' ? bytes.length : gzipSync(bytes, { level: 9 }).length);
    }, 0);
    const { page, seen, context } = await open(browser, { viewport: { width: 1280, height: 900 } });
    await go(page, server.url);
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1);
    const ready = await page.evaluate(() => performance.now());
    console.log(`page weight ${(weight / 1000).toFixed(0)} kB packed, first contentful paint ${paint.toFixed(0)} ms, answer on screen before ${ready.toFixed(0)} ms`);
    check('page weight', weight <= 600_000, String(weight));
    check('first paint', paint > 0 && (!full || paint < 1000), String(paint));
    const policy = await page.getAttribute('meta[http-equiv]', 'content');
    check('policy', /connect-src 'self'/.test(policy) && /default-src 'none'/.test(policy) && !/unsafe-inline|unsafe-eval(?<!wasm-unsafe-eval)/.test(policy), policy);
    check('no cookies', (await context.cookies()).length === 0 && (await page.evaluate(() => localStorage.length + sessionStorage.length)) === 0);
    clean('start', seen);
    await context.close();
  },

  // the figure on the screen is the engine's
  async numbers() {
    const { page, seen } = await desk();
    await at(page, '?tab=model');
    for (const [model, gpu, precision] of [['Qwen2.5-7B', 'rtx4090', 'NF4'], ['Llama-3.1-8B-Instruct', 'h100-sxm', 'FP8'], ['TinyLlama-1.1B-Chat-v1.0', 'a800-sxm4-80gb', 'INT8-MIXED']]) {
      await visit(page, `?tab=model&model=${model}&gpu=${gpu}&precision=${precision}`);
      const want = ask('estimate', { model, gpu, precision });
      const figure = (await page.textContent('.big .figure')).replace(/[^\d.\u2212+]/g, '').replace('\u2212', '-');
      check(`figure of ${model}`, Number(figure) === want.delta_pct, `${figure} and ${want.delta_pct}`);
      check(`verdict of ${model}`, (await page.textContent('.headline h2')) === want.verdict);
      check(`basis of ${model}`, (await page.textContent('.big .tag')) === want.basis);
      await settle(page);
      check(`anchors of ${model}`, (await page.locator('#anchors tbody tr').count()) === want.anchors.length);
      const row = await page.getAttribute('.headline a.tag', 'href');
      check(`evidence of ${model}`, decodeURIComponent(row).includes(want.anchors[0].row), row);
    }
    const [estimate, room] = [ask('estimate', { model: 'Llama-3.1-70B-Instruct', gpu: 'rtx4090', precision: 'FP8' }), '.facts > div:has(.bad) .value'];
    await visit(page, '?tab=model&model=Llama-3.1-70B-Instruct&gpu=rtx4090&precision=FP8');
    check('memory: of what a run may fill', (await page.textContent(room)).startsWith(`${estimate.memory.total_gb} / ${estimate.memory.limit_gb} `), await page.textContent(room));
    check('crossover: on which side', (await page.textContent('.facts .value')).startsWith('below '), await page.textContent('.facts .value'));
    check('sliders: the model’s own size, its own context', (await page.textContent('.f-params_b output')) === '70.6B' && (await page.textContent('.f-ctx output')) === String(estimate.input.ctx));
    // Next to the crossover a model's own change may have the other sign: the side is the curve's, whose ends tell it.
    for (const [model, gpu] of [['Qwen2.5-3B', 'l4'], ['Qwen2.5-3B-Instruct', 'l4'], ['Mistral-7B-v0.1', 'h100-sxm']]) {
      const [small, large] = [0.5, 100].map((params_b) => ask('estimate', { params_b, gpu, precision: 'NF4' }).delta_pct);
      check(`crossover: costs at first, on ${gpu}`, small > 0 && large < 0, `${small} and ${large}`);
      await visit(page, `?tab=model&model=${model}&gpu=${gpu}&precision=NF4`);
      check(`crossover of ${model}: on which side`, (await page.textContent('.facts .value')) === `above ${ask('estimate', { model, gpu, precision: 'NF4' }).crossover_b}B`, await page.textContent('.facts .value'));
    }
    await visit(page, '?tab=cost&region=Norway');
    const bill = ask('cost', { model: 'Qwen2.5-7B', gpu: 'rtx4090', precision: 'NF4', region: 'Norway' }).bill;
    check('cost without a tariff: in kWh', bill.month.usd === null && (await page.textContent('.cost .figure')).startsWith(String(bill.month.kwh)) && (await page.locator('.cost .chart .point').count()) === 3, await page.textContent('.cost .figure'));
    await visit(page, '?tab=model');
    await page.click('.headline a.tag');
    await settle(page);
    check('a tag leads to its row', await page.locator('.card h2').isVisible());
    await page.goBack();
    await settle(page);
    check('back', (await page.getAttribute('#tabs [aria-current]', 'id')) === 't-model');
    clean('numbers', seen);
  },

  // a slider's move until new numbers and a new chart are laid out
  async speed() {
    const { page, context } = await desk();
    await at(page, '?tab=model');
    await page.focus('#c-params_b');
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics');
      const of = (name) => metrics.find((m) => m.name === name).value;
      return 1000 * (of('ScriptDuration') + of('LayoutDuration') + of('RecalcStyleDuration'));
    };
    const before = await spent();
    const times = await page.evaluate(async () => {
      const slider = document.querySelector('#c-params_b');
      const list = [];
      for (let i = 0; i < 80; i++) {
        slider.value = String(60 + i * 4);
        const before = document.querySelector('.big .figure').textContent;
        const t = performance.now();
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        document.querySelector('.chart svg').getBoundingClientRect();
        document.body.offsetHeight;
        list.push([performance.now() - t, before !== document.querySelector('.big .figure').textContent]);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      }
      return list;
    });
    const sorted = times.map(([t]) => t).sort((a, b) => a - b);
    const cpu = ((await spent()) - before) / times.length;
    console.log(`slider move to numbers and chart laid out: median ${sorted[40].toFixed(1)} ms, 95 % within ${sorted[75].toFixed(1)} ms; ${cpu.toFixed(1)} ms of processor a move (n = 80)`);
    check('the numbers followed the slider', times.filter(([, changed]) => changed).length > 60);
    check('slider in time', full ? sorted[40] < 16 : cpu < 48, `${sorted[40]} ms, ${cpu} ms of processor`); // beside other tests only the latter is ours
    await cdp.detach();
  },

  // Does it fit, is something there, axe: each tab at each width; axe once a tab by default, else in all 108 ways.
  async looks() {
    const { page, seen } = await desk();
    await at(page, '?tab=model');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const code = encodeURIComponent('load_in_8bit=True\nBitsAndBytesConfig(load_in_8bit=True)');
    for (const [w, width] of [...WIDTHS, 320].entries()) {
      await page.setViewportSize({ width, height: 850 });
      for (const [i, name] of TABS.entries()) {
        const own = i % WIDTHS.length === w;
        const theme = THEMES[(i + w) % 2], lang = LANGUAGES[(i + (own ? 0 : 1)) % 2];
        const all = THEMES.flatMap((t) => LANGUAGES.map((l) => [t, l]));
        for (const [t, l] of full && width !== 320 ? all : [[theme, lang]]) {
          await visit(page, `?tab=${name}&theme=${t}&lang=${l}&code=${code}`);
          const which = `${name} ${t} ${l} ${width}`, over = await overflow(page);
          check(`${which}: something is there`, (await page.locator('main h2, main table').count()) > 0);
          check(`${which}: fits the width`, over <= 0, `${over} px over`);
          if (own || (full && width !== 320)) await axe(page, which);
        }
      }
    }
    const still = await page.evaluate(() => getComputedStyle(document.querySelector('#tabs a')).transitionDuration);
    check('still with reduced motion', still === '0s', still);
    await page.emulateMedia({ reducedMotion: null });
    await page.setViewportSize({ width: 1280, height: 900 });
    clean('looks', seen);
  },

  // every word of the page has its Chinese, every word asked for is there, none is left over
  async words() {
    const folder = path.join(source, 'web/src'), read = (f) => fs.readFileSync(path.join(folder, f), 'utf8');
    const code = fs.readdirSync(folder, { recursive: true }).filter((f) => f.endsWith('.ts') && f !== 'i18n.ts').map(read).join('\n');
    const list = [...read('i18n.ts').matchAll(/^ {2}(?:'([^']+)'|(\w+)): \['((?:[^'\\]|\\.)*)', '((?:[^'\\]|\\.)*)'\],$/gm)].map((m) => ({ key: m[1] ?? m[2], zh: m[4] }));
    const same = ['p.pue', 'u.tokens', 'save.svg', 'save.png', 'stop'];
    const without = list.filter((w) => !same.includes(w.key) && !/[\u4e00-\u9fff]/.test(w.zh)).map((w) => w.key);
    check('words: all in Chinese', list.length > 200 && without.length === 0, `${list.length} words, ${without}`);
    const known = new Set(list.map((w) => w.key));
    const missing = [...code.matchAll(/\bt\('([^']+)'\)/g)].map((m) => m[1]).filter((k) => !known.has(k));
    check('words: all that are asked for', missing.length === 0, String(missing));
    const idle = [...known].filter((k) => !code.includes(`'${k}'`) && !/^(p|o|b|s|u|c|tab)\./.test(k));
    check('words: none left over', idle.length === 0, String(idle));
  },

  // Chinese
  async chinese() {
    const { page, seen } = await desk('zh-CN');
    await go(page, server.url);
    check('the browser’s language', (await page.getAttribute('html', 'lang')) === 'zh');
    for (const name of TABS) {
      await tab(page, name);
      check(`${name} in Chinese`, /[\u4e00-\u9fff]{2}/.test(await page.textContent('main')));
      const english = await page.evaluate(() => [...document.querySelectorAll('main :is(h2, h3, th, dt, label, summary, legend, button, .tag)')].map((e) => e.textContent.trim())
        .filter((text) => /[A-Za-z]{2}/.test(text) && !/[\u4e00-\u9fff]/.test(text)));
      const names = /^(PUE|GB|SVG|PNG|SARIF|ID|DOI|SHA-256|token\S*|[A-Z]+\d*(-\w+)*|[\d.]+B)$/;
      check(`${name}: no English word of the page`, english.every((text) => names.test(text)), String(english.filter((text) => !names.test(text))));
    }
    await visit(page, '?tab=optimize&model=Llama-3.1-70B-Instruct&gpu=rtx4090&max_latency_ms=1&lang=zh');
    const [misses, verdict] = [await page.textContent('.optimize table tbody'), await page.textContent('.optimize h2')];
    check('budgets that nothing keeps, in Chinese', /显卡显存/.test(misses) && /延迟/.test(misses) && !/p\.|of the|max_/.test(misses + verdict), `${misses} ${verdict}`);
    await tab(page, 'run');
    await page.waitForFunction(() => document.querySelector('.gallery p'));
    const sound = ask('report', { action: 'build', model: 'TinyLlama-1.1B-Chat-v1.0', gpu: 'rtx4090', precision: 'NF4' }).document;
    await page.fill('#report', sound.replace(/("vs_fp16_energy_pct": *)-?[\d.]+/, '$1-90'));
    await settle(page);
    check('advice on a report in Chinese', /-90，但两个能量值得出/.test(await page.textContent('.run .answer')), await page.textContent('.run .answer'));
    await page.fill('#report', sound.replace('"benchmark"', '"bench"'));
    await settle(page);
    check('an error of a report in Chinese', /缺少“benchmark”/.test(await page.textContent('.run .failure')), await page.textContent('.run .failure'));
    await page.fill('#report', sound);
    await settle(page);
    await page.selectOption('#s-lang', 'en');
    await settle(page);
    const said = await page.evaluate(() => [document.querySelector('.gallery'), document.querySelector('.run .answer')].map((e) => e.textContent).join(' ') + document.querySelector('.run .tip').dataset.hint);
    check('switch to English: nothing stays behind', !/[\u4e00-\u9fff]/.test(said), said);
    check('switch to English', (await page.getAttribute('html', 'lang')) === 'en' && (await page.textContent('#t-model')) === 'Your model');
    clean('chinese', seen);
  },

  async asking() {
    const { page, seen } = await desk();
    await at(page, '?tab=model');
    for (const [question, tabName, precision] of [['Is NF4 worth it for Qwen2.5-3B on an RTX 4090?', 'model', 'NF4'], ['批大小32，上下文8k，A100 INT8 13B', 'model', null],
      ['How much will Mistral-7B on A800 cost me for 1 million requests per month?', 'cost', null]]) {
      await tab(page, 'model');
      await page.fill('#ask', question);
      await page.press('#ask', 'Enter');
      await settle(page);
      check(`asked: ${question}`, (await page.getAttribute('#tabs [aria-current]', 'id')) === `t-${tabName}`, page.url());
      if (precision) {
        check('asked: controls follow', (await page.inputValue('#c-precision')) === precision);
        check('asked: said as a command', (await page.textContent('.asked code')).startsWith('ecocompute estimate'));
      }
    }
    clean('asking', seen);
  },

  // One address restores every control of every tab, after a load of its own; then back through the history.
  async links() {
    const { page, seen } = await desk();
    const controls = () => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('main input:not([type=file]), main select, main textarea, #switches select')]
      .filter((e) => e.id).map((e) => [e.id, e.type === 'checkbox' || e.type === 'radio' ? e.checked : e.value])));
    const set = {
      tested: { '#c-prec': 'INT8-MIXED', '#c-excluded': true },
      data: { '#d-grade': 'D', '#d-find': 'Qwen' },
      model: { '#c-gpu': 't4', '#c-precision': 'INT8-MIXED', '#c-engine': 'vllm', '#c-requests': '5000', '#c-region': 'France', '#c-calibration': 'published', '#c-production': true },
      optimize: { '#c-objective': 'min_latency', '#c-max_vram_gb': '20', '#c-max_latency_ms': '80' },
      diagnose: { '#c-throughput': '40', '#c-power_w': '200', '#c-no_kv_cache': true },
      cost: { '#c-pue': '1.3', '#c-price': '0.2' },
      audit: { '#c-name': 'requirements.txt', '#code': 'bitsandbytes==0.45\n' },
      run: { '#case-none': true, '#points': POINTS_CSV },
    };
    await at(page, '?lang=zh&theme=dark');
    const before = {};
    for (const [name, values] of Object.entries(set)) {
      await tab(page, name);
      await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)));
      for (const [id, value] of Object.entries(values)) {
        if (value === true) await page.check(id);
        else if ((await page.locator(id).evaluate((e) => e.tagName)) === 'SELECT') await page.selectOption(id, value);
        else {
          await page.fill(id, value);
          await page.locator(id).dispatchEvent('change');
        }
        await settle(page);
      }
    }
    for (const name of Object.keys(set)) {
      await tab(page, name);
      before[name] = await controls();
    }
    await go(page, page.url());
    for (const [name, values] of Object.entries(set)) {
      await tab(page, name);
      const was = before[name], after = await controls();
      check(`link of ${name}`, JSON.stringify(was) === JSON.stringify(after), JSON.stringify(Object.keys(was).filter((k) => was[k] !== after[k]).map((k) => [k, was[k], after[k]])));
      for (const [id, value] of Object.entries(values)) {
        check(`link of ${name}: ${id}`, after[id.slice(1)] === value, String(after[id.slice(1)]));
        check(`link of ${name}: ${id} is seen`, await page.locator(id).isVisible());
      }
    }
    await visit(page, '?tab=model&lang=en');
    for (const precision of ['FP8', 'INT8-PURE']) await page.selectOption('#c-precision', precision);
    await tab(page, 'cost');
    for (const [name, precision] of [['model', 'INT8-PURE'], ['model', 'FP8'], ['model', 'NF4']]) {
      await page.goBack();
      await settle(page);
      check(`back: ${precision}`, (await page.getAttribute('#tabs [aria-current]', 'id')) === `t-${name}` && (await page.inputValue('#c-precision')) === precision, page.url());
    }
    clean('links', seen);
  },

  // share links of the published site, one of each kind the fixtures know
  async shared() {
    const lines = fs.readFileSync(path.join(source, 'tests/conformance/share_url.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
    const kinds = new Map();
    for (const c of lines.filter((l) => l.kind === 'decode' && l.in.query)) {
      const key = `${c.tag} ${c.want ? 'want' : ''} ${(c.want ?? c.out).count ?? 'no'}`;
      if (!kinds.has(key)) kinds.set(key, c);
    }
    const { page, seen } = await desk();
    await at(page, '?tab=run&lang=en');
    let points = 0, refusals = 0;
    for (const c of kinds.values()) {
      const query = `?${c.in.query.replace(/^\?/, '').replace(/#.*$/, '')}`; // a browser keeps the fragment apart
      const reply = engine.call('report', JSON.stringify({ action: 'overlay', document: query }));
      const want = reply.status === 0 ? JSON.parse(reply.text).points : [];
      await visit(page, c.in.query.startsWith('?') ? c.in.query : `?${c.in.query}`);
      if (!new URLSearchParams(query).getAll('overlay').some((o) => o)) continue; // nothing to overlay
      const tags = await page.locator('.run .hero .tag').allTextContents();
      const alerts = await page.locator('.run .failure').count();
      if (want.length) {
        points++;
        check(`${c.id} ${c.tag}: points`, JSON.stringify(tags) === JSON.stringify(want.map((p) => p.basis)), `${tags} and ${want.map((p) => p.basis)}`);
      } else {
        refusals++;
        check(`${c.id} ${c.tag}: an error and no point`, alerts > 0 && tags.length === 0, `${alerts} alerts, ${tags}`);
      }
    }
    check('shared links of both kinds', points > 3 && refusals > 3, `${points} with points, ${refusals} refused`);
    for (const bad of ['?tab=<script>alert(1)</script>', '?tab=model&gpu=%00', '?tab=model&gpu=rtx4900', '?tab=model&precision=NF5', '?tab=model&batch=-1', '?tab=data&row=no-such-row', '?tab=model&batch=1e999',
      `?tab=run&overlay=${'A'.repeat(15000)}`, '?tab=model&surprise=1', '?tab=model&model=__proto__', '?__proto__=1&tab=model']) {
      await visit(page, bad);
      check(`hostile ${bad.slice(0, 40)}`, (await page.locator('.failure').count()) > 0);
    }
    clean('shared', seen);
  },

  // a report dropped on the page: the engine's verdict, its point, its messages
  async drops() {
    const { page, seen, context } = await desk();
    await at(page, '?tab=model');
    const drop = async (name, text) => {
      const transfer = await page.evaluateHandle(([n, t]) => {
        const d = new DataTransfer();
        d.items.add(new File([t], n));
        return d;
      }, [name, text]);
      await page.dispatchEvent('body', 'dragenter', { dataTransfer: transfer });
      check(`drop ${name}: the page says it takes it`, await page.evaluate(() => document.body.classList.contains('dropping')));
      await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
      await settle(page);
    };
    const good = ask('report', { action: 'build', model: 'TinyLlama-1.1B-Chat-v1.0', gpu: 'rtx4090', precision: 'NF4' }).document;
    await drop('energy.json', good);
    check('drop: on the run tab', (await page.getAttribute('#tabs [aria-current]', 'id')) === 't-run');
    const point = ask('report', { action: 'overlay', document: good }).points[0];
    check('drop: basis', (await page.textContent('.run .hero .tag')) === point.basis);
    check('drop: on the curve', (await page.locator('.run .chart .eco-yours').count()) === 1);
    await drop('energy.json', good.replace('"energy_per_token_mj"', '"energy_per_token"'));
    const why = ask('report', { action: 'validate', document: good.replace('"energy_per_token_mj"', '"energy_per_token"') }).error;
    check('drop: the command line’s reason', (await page.textContent('.run .failure')).includes(why.message), why.message);
    check('drop: no point of an invalid report', (await page.locator('.run .hero').count()) === 0);
    await drop('energy.json', '{"a":');
    check('drop: broken JSON', (await page.locator('.run .failure').count()) > 0);
    await drop('train.py', 'BitsAndBytesConfig(load_in_8bit=True)\n');
    check('drop: code goes to the audit', (await page.getAttribute('#tabs [aria-current]', 'id')) === 't-audit' && /int8-default/.test(await page.textContent('.audit')));
    // what leaves the page does so by a save the reader asked for
    await tab(page, 'model');
    for (const [label, ending] of [['SVG', '.svg'], ['PNG', '.png']]) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`.model .chart .tools button:has-text("${label}")`)]);
      const bytes = fs.readFileSync(await file.path());
      check(`save ${label}`, file.suggestedFilename().endsWith(ending) && (label === 'SVG' ? /^<svg/.test(bytes.toString()) : bytes.readUInt32BE(0) === 0x89504e47 && bytes.length > 10_000), file.suggestedFilename());
    }
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('.model .take button:has-text("Markdown")');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    check('copy as Markdown', copied.includes('|') && copied.includes('NF4'), copied.slice(0, 80));
    clean('drops', seen);
  },

  // no pointer at all
  async keys() {
    const { page, seen } = await desk();
    await go(page, `${server.url}?tab=about`);
    await page.keyboard.press('Tab');
    check('keys: skip link first', (await page.evaluate(() => document.activeElement.id)) === 'skip');
    for (let i = 0; i < 30 && (await page.evaluate(() => document.activeElement.id)) !== 't-model'; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await settle(page);
    check('keys: a tab opens', (await page.getAttribute('#tabs [aria-current]', 'id')) === 't-model');
    await page.focus('.model .chart .frame');
    const read = [];
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press('ArrowRight');
      read.push(await page.textContent('.model .chart .tip'));
    }
    check('keys: points are read', new Set(read).size === 3 && read.every((t) => t.length > 5), read.join(' / '));
    check('keys: with n and session', read.some((t) => /n=\d.*20\d\d/.test(t)), read.join(' / '));
    await page.keyboard.press('Escape');
    check('keys: escape', (await page.textContent('.model .chart .tip')) === '');
    await page.focus('#c-batch');
    const before = await page.textContent('.big .figure');
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
    await settle(page);
    check('keys: a slider', before !== (await page.textContent('.big .figure')) && (await page.evaluate(() => document.activeElement.id)) === 'c-batch');
    // every stop of the Tab key shows where it is, on every tab with --full
    for (const name of full ? TABS : ['diagnose']) {
      await visit(page, `?tab=${name}&throughput=9.5&code=load_in_8bit%3DTrue`);
      await page.evaluate(() => {
        document.body.tabIndex = -1; // from the start, wherever the focus was
        document.body.focus();
      });
      let stops = 0;
      const lost = [];
      for (let at = ''; stops < 150 && at !== null; stops++) {
        await page.keyboard.press('Tab');
        at = await page.evaluate(() => {
          const e = document.activeElement, b = e.getBoundingClientRect(), s = getComputedStyle(e);
          if (e === document.body || (e.id === 'skip' && window.begun)) return null;
          window.begun = true;
          const seen = b.bottom > 0 && b.top < innerHeight && b.right > 0 && b.left < innerWidth && b.width > 1;
          return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1 && seen ? '' : `${e.tagName} ${e.id} ${e.className}`;
        });
        if (at) lost.push(at);
      }
      await page.evaluate(() => { window.begun = false; });
      check(`keys: ${name}, every stop is seen`, lost.length === 0 && stops > 12, `${stops} stops, ${lost}`);
    }
    await visit(page, '?tab=model');
    await page.emulateMedia({ media: 'print' });
    check('print: without controls', !(await page.locator('.controls').first().isVisible()) && (await page.locator('.model .chart svg').isVisible()));
    await page.emulateMedia({ media: null });
    clean('keys', seen);
  },

  // one file, from disk, with the network off
  async offline() {
    const { page, seen, context } = await desk();
    await context.setOffline(true);
    const file = `file://${path.join(dist, 'ecocompute.html')}`;
    await go(page, file);
    check('file: an answer', /%/.test(await page.textContent('.big .figure')));
    for (const name of TABS) {
      await tab(page, name);
      check(`file: ${name}`, (await page.locator('main h2, main table').count()) > 0 && (await page.locator('main .failure').count()) === 0);
    }
    await tab(page, 'model');
    await page.selectOption('#c-precision', 'INT8-MIXED');
    await settle(page);
    const [figure, url] = [await page.textContent('.big .figure'), page.url()];
    await go(page, url);
    check('file: a link restores', (await page.textContent('.big .figure')) === figure && (await page.inputValue('#c-precision')) === 'INT8-MIXED', url);
    await visit(page, `?tab=run&overlay=eyJtIjoiUXdlbi9Rd2VuMi03QiIsIk4iOjcuMCwiYSI6ImFkYSIsInAiOiJORjQiLCJlIjotNzUuMCwiYiI6Im1lYXN1cmVkIiwiZyI6Ik5WSURJQSBHZUZvcmNlIFJUWCA0MDkwIn0`);
    check('file: a share link', (await page.textContent('.run .figure')).includes('75') && /as the link says/.test(await page.textContent('.run .what')), await page.textContent('.run .hero'));
    clean('file', seen);
    await context.setOffline(false);
  },
};

Object.assign(parts, more({ browser, desk, at, server, check, ask, tab, clean, dist, source, program, full }));
const only = process.env.ECO_WEB_ONLY?.split(',');
for (const [name, part] of Object.entries(parts)) {
  if (only && !only.includes(name)) continue;
  const t = performance.now();
  try {
    await part();
  } catch (e) {
    check(name, false, e.stack);
    for (const { context } of kept.values()) await context.close(); // the next part starts clean
    kept.clear();
  }
  console.log(`${name}: ${((performance.now() - t) / 1000).toFixed(1)} s`);
}
await browser.close();
server.close();
console.log(`${passed} passed, ${failed} failed, ${((performance.now() - started) / 1000).toFixed(0)} s`);
process.exit(failed || !passed ? 1 : 0);
