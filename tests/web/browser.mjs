// A static server for the built page and Debian's Chromium, for the browser tests.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.bin': 'application/octet-stream' };

/** Serves a folder, packed as servers do; resolves to {url, close}. */
export function serve(folder) {
  const server = http.createServer((request, reply) => {
    const name = new URL(request.url, 'http://x').pathname.replace(/^\/$/, '/index.html');
    const file = path.join(folder, path.normalize(name));
    if (!fs.existsSync(file) || !fs.statSync(file).isFile()) {
      reply.writeHead(404).end();
      return;
    }
    reply.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' });
    reply.end(fs.readFileSync(file));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({
    url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() })));
}

export const CHROMIUM = process.env.ECO_CHROMIUM ?? '/usr/bin/chromium';
export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
}

// Counts the page's own timers under a second and the files it reads, so that a test waits for the page to be
// at rest and never for a time.
function watch() {
  const waiting = new Set(), [set, clear, text] = [window.setTimeout, window.clearTimeout, Blob.prototype.text];
  let reading = 0;
  window.setTimeout = (f, ms = 0, ...args) => {
    if (ms >= 1000) return set(f, ms, ...args);
    const id = set(() => {
      waiting.delete(id);
      f(...args);
    }, ms);
    waiting.add(id);
    return id;
  };
  window.clearTimeout = (id) => {
    waiting.delete(id);
    clear(id);
  };
  Blob.prototype.text = function () {
    reading++;
    return text.call(this).finally(() => set(() => reading--, 0));
  };
  const frame = () => new Promise((done) => requestAnimationFrame(() => set(done, 0)));
  window.atRest = async () => {
    await frame();
    while (waiting.size || reading) await new Promise((done) => set(done, 10));
    await frame(); // what follows a change of size
  };
}
export const settle = (page) => page.evaluate(() => window.atRest());

/** A page that remembers what it should not do: other hosts, errors, cookies. */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ locale: 'en-US', ...options });
  await context.addInitScript(watch);
  const page = await context.newPage();
  const seen = { outside: [], errors: [] };
  page.on('request', (r) => {
    const u = new URL(r.url());
    if (!(u.hostname === '127.0.0.1' || ['file:', 'data:', 'blob:'].includes(u.protocol))) seen.outside.push(r.url());
  });
  page.on('pageerror', (e) => seen.errors.push(String(e)));
  page.on('console', (m) => {
    if (m.type() === 'error' && !/status of 404/.test(m.text())) seen.errors.push(m.text());
  });
  return { context, page, seen };
}

/** Another address of the page without loading it again, as the back button does. */
export async function visit(page, query) {
  await page.evaluate((q) => {
    history.pushState(null, '', q);
    dispatchEvent(new PopStateEvent('popstate'));
  }, query);
  await settle(page);
}

export async function go(page, url) {
  await page.goto(url);
  await page.waitForSelector('html[data-ready]', { timeout: 20_000 });
  await settle(page);
}
