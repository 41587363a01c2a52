// The form at /submit.html in Chromium: form.mjs ADDRESS REPORT.json OWNER_TOKEN [PICTURE.png]. Consent unticked and
// ticked, a wrong file, text instead of a file, moderation, withdrawal. Exit status 1 and FAULT lines: something is wrong.
import fs from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { launch, open } from '../web/browser.mjs';

const [address, file, owner, picture] = process.argv.slice(2);
let faults = 0;
const fault = (text) => { faults++; console.log(`FAULT ${text}`); };
const rows = async (query = '', headers = {}) =>
  (await (await fetch(`${address}/v1/replications${query}`, { headers })).json()).total;
const own = { authorization: `Bearer ${owner}` };
const browser = await launch();
const { context, page, seen } = await open(browser);
await page.goto(`${address}/submit.html`);
const said = async (id, before) => {
  await page.waitForFunction(([name, old]) => {
    const now = document.getElementById(name).textContent;
    return now && now !== old;
  }, [id, before], { timeout: 20_000 });
  return page.locator(`#${id}`).textContent();
};

// Without consent the browser does not even send it; nothing is ticked before the sender ticks it.
if (await page.locator('#consent').isChecked()) fault('consent is ticked before anybody did');
await page.setInputFiles('#file', file);
await page.fill('#owner', owner);
let sent = 0;
page.on('request', (r) => { sent += r.method() === 'POST'; });
await page.click('#send button');
await page.waitForTimeout(300);
if (sent || await page.locator('#sent').textContent()) fault('a report was sent without consent');
if (!await page.locator('#consent').evaluate((e) => e.validity.valueMissing)) fault('the missing consent is not marked');
// Who takes the form apart is refused by the server.
const bare = await page.evaluate(async ([body, token]) => {
  const reply = await fetch('/v1/reports?action=store&consent=false', { method: 'POST', body,
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` } });
  return [reply.status, (await reply.json()).error?.param];
}, [fs.readFileSync(file, 'utf8'), owner]);
if (bare[0] !== 400 || bare[1] !== 'consent') fault(`consent=false by hand: ${bare}`);

// Ticked, by the keyboard.
await page.locator('#consent').focus();
await page.keyboard.press('Space');
await page.click('#send button');
const receipt = await said('sent', '');
const [, id] = receipt.match(/id: ([0-9a-f]{64})/) ?? [];
const [, token] = receipt.match(/token: (\S{43})/) ?? [];
if (!id || !token || !receipt.includes('state: pending') || !receipt.includes('not shown again')) fault(`receipt: ${receipt}`);
if (await rows() !== 0 || await rows('?state=pending', own) !== 1) fault('a report is listed before its owner looked');
if (picture) await page.screenshot({ path: picture, fullPage: true });
for (const violation of (await new AxeBuilder({ page }).analyze()).violations) fault(`axe: ${violation.id}: ${violation.help}`);

// The same again, a wrong file, a file that is no JSON, the text field, a wrong owner.
const again = await page.click('#send button').then(() => said('sent', receipt));
if (!again.includes('duplicate: true') || again.includes('token:')) fault(`the same again: ${again}`);
const report = JSON.parse(fs.readFileSync(file, 'utf8'));
const wrong = { ...report, results: { ...report.results, basis: 'guessed' } };
let last = again;
for (const [name, body, want] of [['wrong.json', JSON.stringify(wrong), 'basis'], ['none.json', '{"a": 1}', ''],
  ['picture.json', '\x89PNG\r\n', 'line 1']]) {
  await page.setInputFiles('#file', { name, mimeType: 'application/json', buffer: Buffer.from(body, 'latin1') });
  await page.click('#send button');
  last = await said('sent', last);
  if (!last.includes(want) || /token:/.test(last)) fault(`${name}: ${last}`);
}
await page.setInputFiles('#file', []);
await page.fill('#text', JSON.stringify({ ...report, workload: { ...report.workload, model_name: 'typed' } }));
await page.click('#send button');
last = await said('sent', last);
if (!/token: \S{43}/.test(last)) fault(`typed: ${last}`);
await page.fill('#owner', `${owner}x`);
await page.click('#send button');
last = await said('sent', last);
if (!last.includes('not the owner')) fault(`a wrong owner: ${last}`);

// The owner lists it; then its sender withdraws it: a wrong token first.
const listed = await fetch(`${address}/v1/moderations`, { method: 'POST', headers: own, body: JSON.stringify({ id, state: 'accepted' }) });
if (listed.status !== 200 || await rows() !== 1) fault(`moderation: ${listed.status}`);
await page.fill('#id', ` ${id} `);
await page.fill('#token', 'B'.repeat(43));
await page.click('#drop button');
const no = await said('dropped', '');
if (!no.includes('(token)') || await rows() !== 1) fault(`a wrong token: ${no}`);
await page.fill('#token', token);
await page.click('#drop button');
const gone = await said('dropped', no);
if (!gone.includes('state: withdrawn') || await rows() !== 0 || await rows('?state=all', own) !== 1) fault(`withdrawn: ${gone}`);

const errors = seen.errors.filter((e) => !/status of 4\d\d/.test(e));
if (errors.length) fault(`errors in the page: ${errors}`);
if (seen.outside.length) fault(`it asked others: ${seen.outside}`);
if ((await context.cookies()).length) fault('a cookie');
await page.setViewportSize({ width: 360, height: 640 });
if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) fault('wider than a telephone');
await browser.close();
console.log(`form: ${faults} faults`);
process.exit(faults ? 1 : 0);
