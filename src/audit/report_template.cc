#include "audit/report_template.h"

namespace sallyport::audit {
namespace {

// The page's own style only: no font, image or style from elsewhere.
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#fbfbf9;--fg:#1d2021;--dim:#667;--line:#dcdcd6;--card:#fff;--sel:#e8f0fb;
--completed:#3a8f5c;--failed:#c98a1b;--refusal:#b3362b;--timed_out:#8a4fbf;--open:#888;--denied:#d9590f;--accent:#2b62b3}
@media (prefers-color-scheme:dark){:root{--bg:#16181a;--fg:#e4e4de;--dim:#9aa;--line:#33373b;--card:#1e2124;--sel:#24334a;
--completed:#5cc284;--failed:#e3b04b;--refusal:#f0685a;--timed_out:#b98be6;--open:#999;--denied:#ff8a4a;--accent:#7fb0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,sans-serif}
main{max-width:1280px;margin:0 auto;padding:20px}
h1{font-size:20px;margin:0 0 2px}h2{font-size:13px;margin:0 0 8px;color:var(--dim);font-weight:600}
.dim{color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:14px;margin:16px 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px;min-width:0}
.bar{display:grid;grid-template-columns:minmax(0,9em) 1fr auto;gap:8px;align-items:center;font-size:13px;margin:3px 0;
background:none;border:0;padding:0;width:100%;color:inherit;text-align:left;cursor:pointer}
.bar span:first-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.bar:hover span:first-child{text-decoration:underline}
.track{height:9px;background:var(--line);border-radius:5px;overflow:hidden}
.fill{display:block;height:100%}
canvas{width:100%;height:90px;display:block}
input{width:100%;padding:9px 12px;font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px}
input:focus,.bar:focus-visible,.row:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
#list{height:60vh;min-height:280px;overflow:auto;background:var(--card);border:1px solid var(--line);border-radius:8px;margin-top:10px;
position:relative;contain:strict}
#pad{position:relative;width:100%}
.row{position:absolute;left:0;right:0;height:28px;display:grid;gap:10px;align-items:center;padding:0 12px;cursor:pointer;
grid-template-columns:14em 9.5em 8em 7em minmax(0,2fr) minmax(0,1fr);border-bottom:1px solid var(--line);font-size:13px;white-space:nowrap}
.row>*{overflow:hidden;text-overflow:ellipsis}
.row:hover,.row.on{background:var(--sel)}
.mono{font-family:ui-monospace,monospace;font-size:12px}
.num{text-align:right;font-variant-numeric:tabular-nums}
.dot{display:inline-block;width:9px;height:9px;border-radius:50%;margin-right:7px}
#detail{white-space:pre-wrap;overflow-wrap:anywhere;margin-top:12px}
#detail:empty{display:none}
@media (max-width:760px){.row{grid-template-columns:11em 8em minmax(0,1fr)}.row>:nth-child(n+4):not(:nth-child(5)){display:none}
.row>:nth-child(3){display:none}}
)css";

constexpr std::string_view kBody = R"html(<body><main>
<h1>sallyport audit</h1><div class="dim" id="sum"></div>
<section class="cards">
<div class="card"><h2>Outcomes</h2><div id="outcomes"></div></div>
<div class="card"><h2>Slowest tools (95th percentile)</h2><div id="tools"></div></div>
<div class="card"><h2>Denied hosts</h2><div id="hosts"></div></div>
</section>
<div class="card"><h2>Timeline</h2><canvas id="time" height="90" role="img" aria-label="calls over time, by outcome"></canvas></div>
<p><label class="dim" for="q">Filter: words of the command, tool, repo, outcome, host or run; all must be found</label>
<input id="q" type="search" autocomplete="off" spellcheck="false"></p>
<div class="dim" id="count" aria-live="polite"></div>
<div id="list" tabindex="-1"><div id="pad"></div></div>
<div class="card mono" id="detail" aria-live="polite"></div>
</main>
)html";

// Everything from the data reaches the page as textContent.
constexpr std::string_view kScript = R"js(
'use strict';
const get = (id) => document.getElementById(id);
const about = JSON.parse(get('about').textContent);
const data = JSON.parse(get('data').textContent);
const names = data.names, rows = data.rows;
const columns = ['seq','time','outcome','tool','ms','repo','command','run','host','denied','said','receipt','commit','plan','hash'];
const C = Object.fromEntries(columns.map((name, i) => [name, i]));
const css = getComputedStyle(document.documentElement);
const toneOf = {completed: 'completed', network_denied: 'denied', timed_out: 'timed_out', oom_killed: 'timed_out',
  disk_quota_exceeded: 'timed_out', cancelled: 'timed_out', refusal: 'refusal', failure: 'refusal'};
const tone = (outcome) => Object.hasOwn(toneOf, outcome) ? toneOf[outcome] : 'open';
const colour = (row) => {
  const o = names[row[C.outcome]];
  if (row[C.denied].length) return 'denied';
  return o === 'completed' && /"(exit_code":[1-9]|signal")/.test(names[row[C.said]]) ? 'failed' : tone(o);
};
const make = (tag, cls, text) => {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
};
const searched = rows.map((r) => [names[r[C.outcome]], names[r[C.tool]], names[r[C.repo]], r[C.command], r[C.run], names[r[C.host]],
  ...r[C.denied].map((d) => d[0])].join('\n').toLowerCase());
let shown = rows.map((_, i) => i).reverse();

function bars(id, entries, unit) {
  const box = get(id);
  const top = Math.max(1e-9, ...entries.map((e) => e[1]));
  if (!entries.length) box.append(make('div', 'dim', 'none'));
  for (const [name, value, tone] of entries.slice(0, 8)) {
    const b = make('button', 'bar');
    b.type = 'button';
    const track = make('span', 'track'), fill = make('span', 'fill');
    fill.style.width = (100 * value / top) + '%';
    fill.style.background = 'var(--' + tone + ')';
    track.append(fill);
    b.append(make('span', '', name), track, make('span', 'num', unit(value)));
    b.title = name;
    b.onclick = () => { get('q').value = name; filter(); };
    box.append(b);
  }
}

function summary() {
  get('sum').textContent = about.calls + ' calls in ' + about.directory + (about.left_out ? ', ' + about.left_out + ' older ones left out' : '') +
    '; made ' + about.made;
  const outcomes = new Map(), tools = new Map(), hosts = new Map();
  for (const r of rows) {
    const o = names[r[C.outcome]];
    outcomes.set(o, (outcomes.get(o) || 0) + 1);
    if (r[C.ms] > 0) { const t = names[r[C.tool]]; (tools.get(t) || tools.set(t, []).get(t)).push(r[C.ms]); }
    for (const d of r[C.denied]) hosts.set(d[0], (hosts.get(d[0]) || 0) + 1);
  }
  const desc = (a, b) => b[1] - a[1];
  bars('outcomes', [...outcomes].map(([k, v]) => [k, v, tone(k)]).sort(desc), (v) => '' + v);
  bars('tools', [...tools].map(([k, v]) => { v.sort((a, b) => a - b); return [k, v[Math.max(0, Math.ceil(v.length * 0.95) - 1)], 'accent']; })
    .sort(desc), (v) => v.toFixed(v < 100 ? 1 : 0) + ' ms');
  bars('hosts', [...hosts].map(([k, v]) => [k, v, 'denied']).sort(desc), (v) => '' + v);
}

function timeline() {
  const canvas = get('time'), box = canvas.getBoundingClientRect(), scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, box.width * scale);
  canvas.height = 90 * scale;
  const g = canvas.getContext('2d');
  const times = shown.map((i) => Date.parse(rows[i][C.time]));
  let from = Infinity, to = -Infinity;
  for (const t of times) { if (t < from) from = t; if (t > to) to = t; }
  const slots = Math.max(1, Math.floor(box.width / 5)), span = Math.max(1, to - from);
  const tones = ['completed', 'failed', 'timed_out', 'denied', 'refusal', 'open'];
  const counts = Array.from({length: slots}, () => new Array(tones.length).fill(0));
  shown.forEach((i, at) => { counts[Math.min(slots - 1, Math.floor((times[at] - from) / span * slots))][tones.indexOf(colour(rows[i]))]++; });
  const top = Math.max(1, ...counts.map((c) => c.reduce((a, b) => a + b, 0)));
  const w = canvas.width / slots;
  counts.forEach((c, x) => {
    let y = canvas.height;
    c.forEach((n, k) => {
      if (!n) return;
      const h = Math.max(scale, n / top * canvas.height);
      g.fillStyle = css.getPropertyValue('--' + tones[k]);
      g.fillRect(x * w, y - h, Math.max(1, w - scale), h);
      y -= h;
    });
  });
}

const list = get('list'), pad = get('pad'), tall = 28;
let chosen = -1;
function draw() {
  const first = Math.max(0, Math.floor(list.scrollTop / tall) - 4), last = Math.min(shown.length, first + Math.ceil(list.clientHeight / tall) + 9);
  const parts = document.createDocumentFragment();
  for (let at = first; at < last; at++) {
    const i = shown[at], r = rows[i], e = make('div', 'row' + (i === chosen ? ' on' : ''));
    e.style.top = (at * tall) + 'px';
    e.tabIndex = 0;
    const what = make('span', '', names[r[C.outcome]]), dot = make('span', 'dot');
    dot.style.background = 'var(--' + colour(r) + ')';
    what.prepend(dot);
    e.append(make('span', 'mono', r[C.time].slice(0, 23).replace('T', ' ')), what, make('span', '', names[r[C.tool]]),
      make('span', 'num', r[C.ms] ? r[C.ms].toFixed(1) + ' ms' : ''), make('span', 'mono', r[C.command]), make('span', 'dim', names[r[C.repo]]));
    e.onclick = () => { chosen = i; detail(r); draw(); };
    e.onkeydown = (k) => { if (k.key === 'Enter' || k.key === ' ') { k.preventDefault(); e.onclick(); } };
    parts.append(e);
  }
  pad.replaceChildren(parts);
}

function detail(r) {
  const lines = ['record ' + r[C.seq] + '  ' + r[C.time] + '  run ' + r[C.run], names[r[C.outcome]] + '  ' + names[r[C.said]], r[C.command],
    'repo ' + names[r[C.repo]] + (r[C.commit] ? ' at ' + r[C.commit] : '') + '  host ' + names[r[C.host]]];
  for (const d of r[C.denied]) lines.push('denied ' + d[0] + (d[1] ? ':' + d[1] : '') + '  ' + d[2]);
  if (r[C.plan]) lines.push('plan ' + r[C.plan]);
  lines.push('hash ' + r[C.hash], '', names[r[C.receipt]] || 'no receipt');
  get('detail').textContent = lines.join('\n');
}

function filter() {
  const words = get('q').value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = [];
  for (let i = rows.length - 1; i >= 0; i--) if (words.every((w) => searched[i].includes(w))) shown.push(i);
  get('count').textContent = shown.length + ' of ' + rows.length + ' calls';
  pad.style.height = (shown.length * tall) + 'px';
  list.scrollTop = 0;
  draw();
  timeline();
}

let waiting = 0;
get('q').oninput = () => { clearTimeout(waiting); waiting = setTimeout(filter, 60); };
list.onscroll = () => requestAnimationFrame(draw);
window.onresize = () => { draw(); timeline(); };
summary();
filter();
)js";

}  // namespace

std::string_view report_style() { return kStyle; }
std::string_view report_body() { return kBody; }
std::string_view report_script() { return kScript; }

}  // namespace sallyport::audit
