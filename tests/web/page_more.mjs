// More of the page's tests: charts on a phone and in Chinese, traces, diagnosis and fit, what is hostile,
// print and forced colours; with the program: what others sent to its server, and every command it names.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { go, open, settle, visit } from './browser.mjs';
import { ADDRESSES, documents, LINKS, POINTS, TRACES } from './hostile.mjs';

const CHARTED = ['model', 'optimize', 'cost', 'tested', 'run'];
export const POINTS_CSV = 'arch,precision,gpu,params_b,delta_pct\nada,NF4,RTX 4090,1.1,31\nada,NF4,RTX 4090,3,4\nada,NF4,RTX 4090,7,-27\nada,NF4,RTX 4090,14,-38\n';

/** A measured session as `ecocompute measure` writes it: three windows of two precisions, and its trace. */
export function session(sound) {
  const report = (precision, windows) => {
    const d = JSON.parse(sound);
    d.workload.precision_exact = precision;
    d.phases = windows.map(([trial, start_s, end_s]) => ({ name: 'window', trial, start_s, end_s, energy_joules: 80 * (end_s - start_s), avg_power_watts: 80.0123 }));
    d.idle = { ...d.idle, with_model_watts: 30 };
    d.measurement_source = 'nvml';
    return JSON.stringify(d);
  };
  let trace = 't_s,source,power_default_w,power_average_w,power_instant_w\n';
  for (let i = 0; i < 600; i++) {
    const t = i / 10, on = (t > 5 && t < 15) || (t > 20 && t < 30) || (t > 40 && t < 50);
    trace += `${t},nvml:0,${on ? 80 + (i % 7) : 30},,\n`;
  }
  return [['energy.json', report('NF4', [[1, 5, 15], [4, 40, 50]])], ['energy-FP16.json', report('FP16', [[2, 20, 30]])], ['trace.csv', trace]];
}

export function more({ browser, desk, at, server, check, ask, tab, clean, dist, source, program, full }) {
  const drop = async (page, files) => {
    const transfer = await page.evaluateHandle((list) => {
      const d = new DataTransfer();
      for (const [name, text] of list) d.items.add(new File([text], name));
      return d;
    }, files);
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await settle(page);
  };
  const sound = () => ask('report', { action: 'build', model: 'TinyLlama-1.1B-Chat-v1.0', gpu: 'rtx4090', precision: 'NF4' }).document;
  // what stands in charts: does it fit, is it large enough, is it inside the picture
  const pictures = (page) => page.evaluate(() => [...document.querySelectorAll('main .chart')].filter((c) => c.offsetParent).map((figure) => {
    const frame = figure.querySelector('.frame'), svg = frame.querySelector('svg');
    if (!svg) return { empty: true };
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll('text')];
    const boxes = texts.map((t) => t.getBoundingClientRect());
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5; // boxes are taller than letters
    return {
      scrolls: frame.scrollWidth - frame.clientWidth,
      scale, least: Math.min(...texts.map((t) => parseFloat(getComputedStyle(t).fontSize) * scale)),
      outside: texts.filter((t) => { const b = t.getBoundingClientRect(); return b.right > box.right + 1 || b.left < box.left - 1 || b.bottom > box.bottom + 1; }).map((t) => t.textContent),
      across: texts.flatMap((t, i) => texts.slice(i + 1).filter((u, k) => over(boxes[i], boxes[i + 1 + k])).map((u) => `${t.textContent} × ${u.textContent}`)),
      words: texts.map((t) => t.textContent).join(' | '), points: svg.querySelectorAll('.point').length,
    };
  }));

  const parts = {
    // every chart at phone widths, and after the window changes its width
    async phone() {
      const { page, seen, context } = await open(browser, { viewport: { width: 360, height: 780 }, hasTouch: true });
      await go(page, `${server.url}?tab=model`);
      await tab(page, 'run');
      await drop(page, session(sound()));
      for (const name of full ? CHARTED : ['model', 'run']) {
        await (name === 'model' ? visit(page, '?tab=model&batch=8') : tab(page, name)); // where the asked point is near zero
        for (const width of full ? [360, 430, 1280, 390] : [360, 430, 1280]) {
          await page.setViewportSize({ width, height: 780 });
          await settle(page);
          const list = await pictures(page);
          check(`phone ${name} ${width}: charts`, list.length > 0 && list.every((p) => !p.empty), `${list.length}`);
          for (const [i, p] of list.entries()) {
            check(`phone ${name} ${width} ${i}: fits`, p.scrolls <= 0 && Math.abs(p.scale - 1) < 0.03, JSON.stringify(p));
            check(`phone ${name} ${width} ${i}: readable`, p.least >= 10.9, String(p.least));
            check(`phone ${name} ${width} ${i}: inside`, p.outside.length === 0, p.outside.join(' | '));
            check(`phone ${name} ${width} ${i}: no text over text`, p.across.length === 0, p.across.join(' | '));
            check(`phone ${name} ${width} ${i}: points`, p.points > 0);
          }
        }
      }
      await visit(page, '?tab=model');
      await page.locator('.model .chart .point').nth(1).tap({ force: true });
      check('phone: a tap reads a point', /measured|interpolated/.test(await page.textContent('.model .chart .tip')), await page.textContent('.model .chart .tip'));
      clean('phone', seen);
      await context.close();
    },

    // Chinese inside the charts, on the screen, for a screen reader, and in what is saved
    async chartwords() {
      const { page, seen } = await desk('zh-CN');
      await go(page, `${server.url}?tab=model&lang=zh`);
      await tab(page, 'run');
      await drop(page, session(sound()));
      const english = /[a-z]{4,}/g;
      const names = /Qwen\w*|Instruct|Tiny\w*|Chat|Phi|mini|instruct|Llama|Mistral|Blackw\w*|Server|Edition|token|ecocompute|data|list|precision|MIXED|PURE|trace|nvml|NVIDIA|GeForce/gi;
      for (const name of full ? CHARTED : ['optimize', 'run']) {
        await tab(page, name);
        for (const [i, p] of (await pictures(page)).entries()) {
          const left = [...p.words.replace(names, '').matchAll(english)].map(String);
          check(`zh ${name} ${i}: no English in the chart`, left.length === 0, left.join(' '));
        }
        const spoken = await page.locator('main .chart svg desc').first().textContent();
        check(`zh ${name}: description`, /[\u4e00-\u9fff]/.test(spoken) && !/\b(of|the|and|model|samples)\b/.test(spoken), spoken);
      }
      await tab(page, 'model');
      const [file] = await Promise.all([page.waitForEvent('download'), page.click('.model .chart .tools button:has-text("SVG")')]);
      const svg = fs.readFileSync(await file.path(), 'utf8');
      check('zh: the saved SVG too', svg.includes('更省电') && svg.includes('width="760"') && !svg.includes('saves energy'));
      await page.focus('.model .chart .frame');
      await page.keyboard.press('Home');
      check('zh: a point is read in Chinese', /实测/.test(await page.textContent('.model .chart .tip')), await page.textContent('.model .chart .tip'));
      clean('chart words', seen);
    },

    // energy.json with its trace.csv; every point of every chart read by keys, with its basis
    async traces() {
      const { page, seen } = await desk();
      await go(page, `${server.url}?tab=model`);
      const files = session(sound());
      await drop(page, files.slice(0, 1));
      check('trace: asked for', /trace\.csv/.test(await page.textContent('.run .answer')));
      await drop(page, files);
      check('trace: windows of all reports', (await page.locator('.run .eco-shade').count()) === 3);
      check('trace: idle', /idle/.test(await page.locator('.run .chart').last().locator('svg').textContent()));
      const places = await page.evaluate(() => [...document.querySelectorAll('.run .eco-shade')].map((r) => [Number(r.getAttribute('x')), Number(r.getAttribute('width'))]).sort((a, b) => a[0] - b[0]));
      const across = places[2][0] - places[0][0]; // 35 s of the clock; each window is 10 s
      check('trace: windows in their places', places.every(([, w]) => Math.abs(w / across - 10 / 35) < 0.01), JSON.stringify(places));
      const power = page.locator('.run .chart').last();
      await power.locator('.frame').focus();
      await page.keyboard.press('Home');
      check('trace: a window is read', /NF4 · trial 1 · 5 … 15 s · 80 W · measured/.test(await power.locator('.tip').textContent()), await power.locator('.tip').textContent());
      const real = process.env.ECO_WEB_SESSION; // a folder that `measure` wrote
      if (real) {
        await drop(page, ['energy.json', 'trace.csv'].map((n) => [n, fs.readFileSync(path.join(real, n), 'utf8')]));
        check('trace: of a real session', (await page.locator('.run .eco-shade').count()) > 0);
      }
      for (const [name, basis] of [['model', /measured|interpolated/], ['optimize', /modelled/], ['cost', /predicted/], ['tested', /measured/]]) {
        await tab(page, name);
        for (const figure of await page.locator('main .chart').all()) {
          const n = await figure.locator('.point').count();
          await figure.locator('.frame').focus();
          await page.keyboard.press('Home');
          const read = new Set();
          let said = 0;
          const most = Math.min(n, full ? 40 : 5);
          for (let i = 0; i < most; i++) {
            const text = await figure.locator('.tip').textContent();
            read.add(text);
            said += basis.test(text) && /\d/.test(text) ? 1 : 0;
            await page.keyboard.press('ArrowRight');
          }
          check(`${name}: each point says its basis`, n > 0 && said === most, `${said} of ${most}: ${[...read][0]}`);
        }
      }
      clean('traces', seen);
    },

    // what is seen against what is expected, the other calibration, a fit of own points; all in links
    async diagnosing() {
      const { page, seen } = await desk();
      await at(page, '?tab=diagnose');
      check('diagnose: asks what is seen', (await page.locator('.failure').count()) === 0 && (await page.locator('.answer button').count()) === 1);
      await page.click('.answer button');
      await settle(page);
      const args = { model: 'Mistral-7B-v0.1', gpu: 'rtx4090d', precision: 'INT8-MIXED', throughput: 9.5, power_w: 140 };
      const want = ask('diagnose', args);
      check('diagnose: the engine’s cause', (await page.textContent('.diagnose h2')) === want.root_cause);
      check('diagnose: likelihood', (await page.textContent('.diagnose .figure')).includes(String(Math.round(want.likelihood * 1000) / 10)));
      check('diagnose: expected range', (await page.textContent('.diagnose .facts')).includes(`${want.expect_tokens_per_s_ci[0]} … ${want.expect_tokens_per_s_ci[1]}`));
      check('diagnose: every fix in order', JSON.stringify(await page.locator('.fixes strong').allTextContents()) === JSON.stringify(want.fixes.map((f) => f.text)));
      check('diagnose: as a command', (await page.textContent('.take code')).includes('--throughput 9.5 --power-w 140'));
      const zh = ask('diagnose', { ...args, lang: 'zh' });
      await visit(page, `${new URL(page.url()).search}&lang=zh`);
      check('diagnose: a link, in Chinese', (await page.textContent('.diagnose h2')) === zh.root_cause && (await page.inputValue('#c-throughput')) === '9.5');
      await visit(page, '?tab=model&q=&gpu=rtx4090&precision=NF4&model=Qwen2.5-7B&calibration=published&lang=en');
      const published = ask('estimate', { model: 'Qwen2.5-7B', gpu: 'rtx4090', precision: 'NF4', calibration: 'published' });
      const figure = (await page.textContent('.big .figure')).replace(/[^\d.\u2212+]/g, '').replace('\u2212', '-');
      check('calibration: as published', Number(figure) === published.delta_pct && (await page.inputValue('#c-calibration')) === 'published', figure);
      await visit(page, `?tab=run&points=${encodeURIComponent(POINTS_CSV)}&lang=en`);
      const fit = await page.textContent('.run table');
      check('fit: a curve of the points', /ada/.test(fit) && /NF4/.test(fit) && /\dB/.test(fit), fit);
      if (program) {
        const file = path.join(os.tmpdir(), `eco-web-points-${process.pid}.csv`);
        fs.writeFileSync(file, POINTS_CSV);
        const native = JSON.parse(spawnSync(program, ['fit', '--data', file, '--json'], { encoding: 'utf8' }).stdout);
        fs.rmSync(file);
        check('fit: as the program', JSON.stringify(native.curves) === JSON.stringify(ask('fit', { data: POINTS_CSV }).curves));
      }
      clean('diagnosing', seen);
    },

    async hostile() {
      const { page, seen } = await desk();
      await go(page, `${server.url}?tab=run`);
      let tried = 0;
      const some = (list) => (full ? list : list.filter((_, i) => i % 4 === 0)); // the whole set with --full
      const refused = async (name, box = '.run .answer') => {
        tried++;
        const points = await page.locator('.run .hero, .run .eco-yours').count();
        check(`hostile, ${name}: a reason`, (await page.locator(`${box} .failure`).count()) > 0);
        check(`hostile, ${name}: no point`, points === 0, String(points));
      };
      for (const [name, query] of some(LINKS)) {
        await visit(page, query);
        await settle(page);
        await refused(`link: ${name}`);
      }
      for (const [name, query] of some(ADDRESSES)) {
        await visit(page, query);
        await settle(page);
        await refused(`address: ${name}`, 'main');
      }
      await visit(page, '?tab=run');
      for (const [name, text] of some(documents(sound()))) {
        await drop(page, [['energy.json', text]]);
        if (text) await refused(`report: ${name}`);
        else check('hostile, an empty report: no point', (await page.locator('.run .hero').count()) === 0 && ++tried > 0);
      }
      await page.click('.run button:has-text("Clear")');
      for (const [name, text] of some(TRACES)) {
        await drop(page, [['trace.csv', text]]);
        tried++;
        check(`hostile, trace: ${name}`, (await page.locator('.run .answer .chart svg').count()) === 0 && (await page.textContent('.run .answer .chart')).length > 5);
      }
      await page.click('.run button:has-text("Clear")');
      for (const [name, text] of some(POINTS)) {
        await page.fill('#points', text);
        await settle(page);
        tried++;
        check(`hostile, points: ${name}`, (await page.locator('.run .failure').count()) === 1 && (await page.locator('.run .answer table').count()) === 0);
      }
      await page.fill('#points', '');
      await drop(page, [['energy.json', `{"a":"${'x'.repeat(2 << 20)}"}`]]);
      check('hostile: a huge file is not read', /larger/.test(await page.textContent('.run .answer')));
      await visit(page, `?tab=run&overlay=${Buffer.from(JSON.stringify({ m: 'Qwen/Qwen2-7B', N: 7, a: 'ada', p: 'NF4', e: -30, b: 'peer-reviewed', g: 'RTX 4090' })).toString('base64url')}`);
      await settle(page);
      const tags = await page.locator('.run .hero .tag').allTextContents();
      check('hostile: an invented basis is not repeated', !/peer/.test(await page.textContent('.run .answer')) && tags.every((t) => t === 'unverified'), tags.join());
      check('hostile: all were tried', tried === (full ? 50 : 14), String(tried));
      check('hostile: nothing ran', (await page.evaluate(() => document.querySelectorAll('main script, main img').length)) === 0);
      clean('hostile', seen);
    },

    // paper and forced colours
    async media() {
      const { page, seen } = await desk();
      await at(page, '?tab=model');
      await page.emulateMedia({ forcedColors: 'active' });
      const ink = await page.evaluate(() => {
        const of = (q, p) => getComputedStyle(document.querySelector(q))[p];
        return { curve: of('.eco-curve', 'stroke'), paper: of('.eco-bg', 'fill'), text: of('.eco-t', 'fill'), band: of('.strip .b95', 'backgroundColor'), page: getComputedStyle(document.documentElement).backgroundColor };
      });
      check('forced colours: chart on its paper', ink.curve !== ink.paper && ink.text !== ink.paper && ink.band !== ink.page, JSON.stringify(ink));
      await page.emulateMedia({ forcedColors: 'none' });
      await visit(page, '?tab=model&theme=dark');
      const [file] = await Promise.all([page.waitForEvent('download'), page.click('.model .chart .tools button:has-text("PNG")')]);
      const corner = await page.evaluate(async (data) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const pen = document.createElement('canvas').getContext('2d');
        pen.drawImage(image, 0, 0);
        return [...pen.getImageData(1, 1, 1, 1).data];
      }, fs.readFileSync(await file.path()).toString('base64'));
      check('PNG: in the page’s theme, not the machine’s', corner[0] < 40 && corner[3] === 255, corner.join());
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const printed = await page.evaluate(() => ({ paper: getComputedStyle(document.querySelector('.eco-bg')).fill, body: getComputedStyle(document.body).backgroundColor }));
      check('print: on white, whatever the theme', printed.paper === 'rgb(255, 255, 255)' && printed.body === 'rgb(255, 255, 255)', JSON.stringify(printed));
      await page.emulateMedia({ media: null, forcedColors: null, colorScheme: null });
      clean('media', seen);
    },
  };
  if (!program) return parts;
  return { ...parts, ...served({ desk, check, clean, dist, source, program, full, sound }) };
}

const port = () => new Promise((resolve) => {
  const s = net.createServer().listen(0, '127.0.0.1', () => {
    const { port: p } = s.address();
    s.close(() => resolve(p));
  });
});

function served({ desk, check, clean, dist, source, program, full, sound }) {
  const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'eco-web-'));
  const start = async (options) => {
    const at = await port(), url = `http://127.0.0.1:${at}/`;
    const child = spawn(program, ['serve', '--port', String(at), '--web', path.join(dist, 'web'), '--rate-limit', '0', '--access-log', 'off', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (b) => (said += b));
    for (let i = 0; i < 200 && child.exitCode === null; i++) {
      if (await fetch(`${url}healthz`).then((r) => r.ok, () => false)) return { url, stop: () => new Promise((done) => { child.once('exit', done); child.kill('SIGTERM'); }) };
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`no server: ${said}`);
  };
  const send = async (url, name, body, token) => {
    const reply = await fetch(`${url}v1/${name}`, { method: 'POST', body, headers: token ? { authorization: `Bearer ${token}` } : {} });
    return { status: reply.status, ...(await reply.json()) };
  };

  return {
    // the page of `ecocompute serve --store`: what is listed, pending and withdrawn
    async gallery() {
      const home = folder(), secret = 'a-token-of-the-owner-of-this-store';
      fs.writeFileSync(path.join(home, 'token'), `${secret}\n`, { mode: 0o600 });
      const server = await start(['--store', `sqlite:${home}/reports.db`, '--token-file', path.join(home, 'token')]);
      const { page, seen } = await desk();
      const policy = (await fetch(server.url)).headers.get('content-security-policy') ?? '';
      check('gallery: the server’s policy', /default-src 'none'/.test(policy) && /connect-src 'self'/.test(policy) && !/script-src[^;]*unsafe-inline/.test(policy), policy);
      await go(page, `${server.url}?tab=run&lang=en`);
      await page.waitForFunction(() => document.querySelector('.gallery p'));
      check('gallery: empty is said', /Nobody/.test(await page.textContent('.gallery')) && (await page.locator('.gallery table').count()) === 0);
      const documents = [['Qwen/Qwen2.5-3B', 'listed'], ['Qwen/Qwen2.5-7B', 'pending'], ['TinyLlama/TinyLlama-1.1B-Chat-v1.0', 'withdrawn']].map(([model, fate], i) => {
        const d = JSON.parse(sound());
        d.workload.model_name = model;
        d.timestamp_utc = `2026-11-0${i + 1}T00:00:00Z`;
        return [d, fate];
      });
      for (const [d, fate] of documents) {
        const receipt = await send(server.url, 'reports?action=store&consent=true', JSON.stringify(d), secret);
        check(`gallery: ${fate} was sent`, receipt.status === 201, JSON.stringify(receipt).slice(0, 200));
        if (fate !== 'pending') check(`gallery: ${fate} is accepted`, (await send(server.url, 'moderations', JSON.stringify({ id: receipt.id, state: 'accepted' }), secret)).status === 200);
        if (fate === 'withdrawn') check('gallery: withdrawn', (await send(server.url, 'withdrawals', JSON.stringify({ id: receipt.id, token: receipt.token }))).status === 200);
      }
      await go(page, `${server.url}?tab=run&lang=en`);
      await page.waitForSelector('.gallery table');
      const text = await page.textContent('.gallery');
      check('gallery: only what is listed', (await page.locator('.gallery tbody tr').count()) === 1 && /Qwen2.5-3B/.test(text) && !/Qwen2.5-7B|TinyLlama/.test(text), text);
      const row = (await (await fetch(`${server.url}v1/replications`)).json()).rows[0];
      const cells = await page.locator('.gallery tbody td').allTextContents();
      check('gallery: its figures', cells.includes(row.gpu) && cells.includes(row.precision) && cells.some((c) => c.includes(String(Math.abs(row.delta_pct)))) && cells.includes(row.received.slice(0, 10)), JSON.stringify(cells));
      check('gallery: its basis', (await page.textContent('.gallery .tag')) === row.basis);
      await page.route('**/v1/replications*', (r) => r.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.waitForSelector('.gallery button');
      check('gallery: an error is said', /503/.test(await page.textContent('.gallery')));
      const again = async (answer) => {
        await page.unroute('**/v1/replications*');
        await page.route('**/v1/replications*', answer);
        await page.click('.gallery button');
      };
      await again((r) => r.abort());
      check('gallery: offline is said', await page.waitForFunction(() => /reached/.test(document.querySelector('.gallery').textContent)).then(() => true));
      await again((r) => r.fulfill({ status: 200, body: JSON.stringify({ total: 1, next: null, rows: [{ model: '<img src=x onerror=alert(1)>', basis: 'peer-reviewed', delta_pct: 'lots', ci: ['a', 3], received: 7, classified: true, curve_pct: {} }, null] }) }));
      await page.waitForSelector('.gallery table');
      check('gallery: a server that lies', (await page.textContent('.gallery .tag')) === 'unverified' && (await page.locator('.gallery img').count()) === 0);
      await page.unroute('**/v1/replications*');
      await server.stop();
      const bare = await start([]);
      await go(page, `${bare.url}?tab=run&lang=en`);
      await page.waitForFunction(() => document.querySelector('.gallery p'));
      check('gallery: a server without a store', /--store/.test(await page.textContent('.gallery')));
      await bare.stop();
      seen.errors = seen.errors.filter((e) => !/^Failed to load resource: (net::ERR_FAILED|.*status of 50[13])/.test(e)); // those we made
      clean('gallery', seen);
      fs.rmSync(home, { recursive: true });
    },

    // every command that the page names for running it yourself, in its order, in a shell
    async commands() {
      const { page, seen } = await desk();
      const home = folder();
      fs.writeFileSync(path.join(home, 'your-benchmark.sh'), '#!/bin/sh\nsleep 0.2\n', { mode: 0o755 });
      const env = { ...process.env, PATH: `${path.dirname(program)}:${process.env.PATH}`, ECO_LANG: 'en' };
      const sh = (line, cwd = home) => spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8', timeout: 240_000 });
      const done = new Set();
      await go(page, `file://${path.join(dist, 'ecocompute.html')}?tab=run&lang=en`);
      for (const which of ['nvidia', 'server', 'other', 'none']) {
        await visit(page, `?tab=run&case=${which}`);
        for (const line of await page.locator('.commands code').allTextContents()) {
          if (done.has(line)) continue;
          done.add(line);
          if (line.startsWith('./')) {
            const file = path.join(source, line);
            check(`command ${line}`, fs.existsSync(file) && (fs.statSync(file).mode & 0o111) !== 0 && sh(`sh -n ${line}`, source).status === 0);
          } else if (line.startsWith('export ')) {
            check(`command ${line}`, sh(`${line} && test "\${PATH%%:*}" = "$PWD/build"`, source).status === 0);
          } else {
            check(`command parses: ${line}`, sh(`${line.replace(' -- ', ' --help -- ')} --help`).status === 0, sh(`${line} --help`).stderr);
            for (const file of line.match(/workers\/\w+\.py/g) ?? []) check(`command: ${file} is there`, fs.existsSync(path.join(source, file)));
          }
        }
      }
      check('commands: of every case', done.size >= 7, String(done.size));
      check('command runs: doctor', sh('ecocompute doctor').status === 0);
      const track = sh('ecocompute track -- ./your-benchmark.sh');
      check('command runs: track', track.status === 0 || track.status === 4, track.stderr);
      const none = [...done].find((l) => l.includes('--gpu rtx4090'));
      const answered = sh(none);
      check('command runs: no GPU', answered.status === 0 && fs.existsSync(path.join(home, 'ecocompute-out/energy.json')), answered.stderr);
      const report = fs.readFileSync(path.join(home, 'ecocompute-out/energy.json'), 'utf8');
      await page.fill('#report', report);
      await settle(page);
      check('commands: the page takes what they write', (await page.locator('.run .good').count()) > 0 && (await page.locator('.run .failure').count()) === 0);
      if (full) {
        const builtin = [...done].find((l) => l.includes('synthetic:')).replace('ecocompute-out', 'measured');
        const meter = "--source 'exec:while :; do echo 50; sleep 0.05; echo 90; sleep 0.05; done' --blocks 1 --gen-tokens 4 --iterations 1";
        const measured = sh(`${builtin} ${meter}`);
        check('command runs: another machine', measured.status === 0, measured.stderr.slice(-300));
        const text = (name) => fs.readFileSync(path.join(home, 'measured', name), 'utf8');
        const transfer = await page.evaluateHandle((list) => {
          const d = new DataTransfer();
          for (const [name, body] of list) d.items.add(new File([body], name));
          return d;
        }, ['energy.json', 'trace.csv'].map((n) => [n, text(n)]));
        await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
        await settle(page);
        const windows = JSON.parse(text('energy.json')).phases.filter((p) => p.name === 'window').length;
        check('commands: its power, windows shaded', windows > 0 && (await page.locator('.run .eco-shade').count()) === windows, String(windows));
      }
      clean('commands', seen);
      fs.rmSync(home, { recursive: true });
    },
  };
}
