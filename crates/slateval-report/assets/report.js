"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const evaluation = JSON.parse($("evaluation").textContent);
  const tails = JSON.parse($("tail-data").textContent);
  const root = document.documentElement;
  root.classList.add("js");

  // Numbers, written as everywhere else on the page: halves go to the even digit, minus is a minus sign.
  function fixed(value, decimals) {
    const size = Math.abs(value);
    let text = size.toFixed(decimals);
    if (/^50*$/.test(size.toFixed(decimals + 25).slice(-25))) {
      const down = (Number(text) - 10 ** -decimals).toFixed(decimals);
      text = /[13579]$/.test(text) ? down : text;
    }
    const [whole, part] = text.split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part === undefined ? "" : "." + part);
    return value < 0 && /[1-9]/.test(text) ? "−" + grouped : grouped;
  }
  function signed(value, decimals) {
    const text = fixed(value, decimals);
    return text.startsWith("−") ? text : "+" + text;
  }
  // More decimals where fewer would leave nothing of a small number, up to twelve.
  function digits(values, decimals) {
    const largest = Math.max(...values.map((x) => Math.abs(x ?? 0)));
    const needed = 1 - Math.floor(Math.log10(largest));
    return needed > decimals && needed <= 12 ? needed : decimals;
  }
  // Six digits, without zeros at the end.
  function short(value) {
    const decimals = value === 0 ? 0 : Math.min(12, Math.max(0, 5 - Math.floor(Math.log10(Math.abs(value)))));
    const text = fixed(value, decimals);
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  }
  // Numbers as they are, beside those that are shown.
  function exactly(cell, values) {
    for (const [name, exact] of Object.entries(values)) {
      if (exact === null) delete cell.dataset[name];
      else cell.dataset[name] = String(exact);
    }
  }
  function percent(level) {
    return (100 * level).toFixed(6).replace(/\.?0+$/, "") + "%";
  }

  // Charts tell where their plot is and what its ends stand for.
  function geometry(svg) {
    const [left, right, top, bottom] = svg.dataset.plot.split(" ").map(Number);
    const [low, high] = svg.dataset.values.split(" ").map(Number);
    return { left, right, top, bottom, low, high };
  }
  function mark(figure, value) {
    for (const svg of all("svg", figure)) {
      const g = geometry(svg);
      const part = Math.min(1, Math.max(0, (value - g.low) / (g.high - g.low)));
      const x = g.left + part * (g.right - g.left);
      const line = svg.querySelector(".marker");
      line.setAttribute("d", `M${x.toFixed(1)} ${g.bottom}V${g.top}`);
    }
  }
  function follow(figure, moved) {
    for (const svg of all("svg", figure)) {
      svg.addEventListener("pointermove", (event) => {
        const g = geometry(svg);
        const box = svg.getBoundingClientRect();
        const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
        if (x >= g.left && x <= g.right) moved(g.low + ((x - g.left) / (g.right - g.left)) * (g.high - g.low));
      });
    }
  }

  // Legend: each entry becomes a switch for its policy, in every chart.
  for (const item of all(".legend li")) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.append(...item.childNodes);
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const part of all(`[data-series="${item.dataset.policy}"]`)) {
        if (!part.closest("td, #trust")) part.classList.toggle("off", !shown);
      }
    });
    item.append(button);
  }

  // Reading off the CDFs, at rewards that they were estimated at: what is shown is what the JSON says.
  const cdfFigure = $("cdf-chart");
  const rewardSlider = $("reward-slider");
  const rewards = evaluation.policies[0].cdf.reward;
  function nearestTo(list, wanted) {
    let best = 0;
    list.forEach((known, i) => {
      if (Math.abs(known - wanted) < Math.abs(list[best] - wanted)) best = i;
    });
    return best;
  }
  function readOff(at) {
    const reward = rewards[at];
    rewardSlider.value = String(at);
    mark(cdfFigure, reward);
    const shown = short(reward);
    $("reward-value").textContent = shown;
    rewardSlider.setAttribute("aria-valuetext", "reward " + shown);
    rewardSlider.dataset.reward = String(reward);
    for (const row of all("#cdf-table tbody tr")) {
      const cdf = evaluation.policies[row.dataset.policy].cdf;
      const known = cdf.reward[at] === reward ? at : cdf.reward.indexOf(reward);
      const value = (values) => values[known] ?? null;
      const band = cdf.conditional ? cdf.if_order_holds : cdf;
      const [share, lower, upper] = [cdf.estimate, band.lower, band.upper].map(value);
      const [open, close] = cdf.conditional ? ["(", ")?"] : ["[", cdf.refuted ? "]!" : "]"];
      const [first, second] = all("td", row);
      const decimals = digits([share, lower, upper].map((x) => (x === null ? x : 100 * x)), 1);
      const write = (x) => (x === null ? "–" : fixed(100 * x, decimals) + "%");
      exactly(first, { estimate: share, lower: value(cdf.lower), upper: value(cdf.upper) });
      first.textContent = write(share);
      second.textContent = lower === null && upper === null ? "–" : `${open}${write(lower)}, ${write(upper)}${close}`;
    }
  }
  if (rewards.length > 0) {
    rewardSlider.max = String(rewards.length - 1);
    rewardSlider.addEventListener("input", () => readOff(Number(rewardSlider.value)));
    follow(cdfFigure, (reward) => readOff(nearestTo(rewards, reward)));
    readOff(Math.max(0, evaluation.policies[0].cdf.estimate.findIndex((share) => share >= 0.5)));
  }

  // Tails: slider, number, chart and table show one level.
  const slider = $("tail-slider");
  const number = $("tail-number");
  function fill(cell, column, at, write) {
    const value = (end) => (column === null ? null : column[end][at]);
    const [estimate, lower, upper] = ["estimate", "lower", "upper"].map(value);
    const mark = column?.mark ?? { open: "[", close: "]", class: "", reason: "", conditional: false };
    exactly(cell, mark.conditional ? { estimate, lower: null, upper: null } : { estimate, lower, upper });
    const decimals = digits([estimate, lower, upper], tails.decimals);
    const text = (x) => (x === null ? "–" : write(x, decimals));
    cell.replaceChildren(text(estimate));
    const bounded = estimate !== null && (lower !== null || upper !== null);
    if (bounded || (estimate !== null && tails.intervals)) {
      const ends = document.createElement("span");
      ends.className = bounded ? "ends" + mark.class : "ends";
      if (bounded && mark.reason !== "") ends.title = mark.reason;
      ends.textContent = bounded ? `${mark.open}${text(lower)}, ${text(upper)}${mark.close}` : "[–]";
      cell.append(" ", ends);
    }
  }
  const nearest = (level) => nearestTo(tails.levels, level);
  function showTail(at, source) {
    const level = percent(tails.levels[at]);
    if (source !== slider) slider.value = String(at);
    if (source !== number) number.value = level.slice(0, -1);
    slider.setAttribute("aria-valuetext", level);
    $("tail-level").textContent = level;
    mark($("tail-chart"), 100 * tails.levels[at]);
    for (const row of all("#tail-table tbody tr")) {
      const policy = tails.policies[row.dataset.policy];
      for (const cell of all("td", row)) {
        const what = cell.dataset.what;
        fill(cell, policy[what], at, what === "difference" ? signed : fixed);
      }
    }
  }
  if (slider) {
    slider.addEventListener("input", () => showTail(Number(slider.value), slider));
    number.addEventListener("input", () => {
      if (number.value !== "" && number.validity.valid) showTail(nearest(number.valueAsNumber / 100), number);
    });
    number.addEventListener("change", () => showTail(Number(slider.value), null));
    follow($("tail-chart"), (level) => showTail(nearest(level / 100), null));
    showTail(Number(slider.value), null);
  }

  // Light and dark.
  const theme = $("theme");
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => (theme.textContent = dark() ? "Light colours" : "Dark colours");
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();

  // Copies and downloads. Spreadsheets run cells that begin like a formula: a quote before them keeps them text.
  const harmless = (text) => (/^[=@\t\r]|^[+-](?![\d.])/.test(text) ? "'" + text : text);
  function tsv(table) {
    const cell = (c) => harmless(c.textContent.replace(/\s+/g, " ").trim());
    return all("tr", table)
      .map((row) => all("th, td", row).map(cell).join("\t"))
      .join("\n");
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Pages from disk may not have a clipboard of their own.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }
  for (const button of all("[data-copy]")) {
    const words = button.textContent;
    button.addEventListener("click", async () => {
      const source = $(button.dataset.copy);
      await copy(source.tagName === "TABLE" ? tsv(source) : source.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = words), 1500);
    });
  }
  function csv() {
    const field = (x) => {
      if (x === null || x === undefined) return "";
      if (typeof x === "number") return String(x);
      const text = harmless(String(x));
      return /[",\n\r]/.test(text) || text !== x ? '"' + text.replaceAll('"', '""') + '"' : text;
    };
    const lines = ["policy,segment,reward,raw,estimate,lower,upper"];
    const add = (policies, segment) => {
      for (const { name, cdf } of policies) {
        cdf.reward.forEach((reward, i) => {
          const values = [name, segment, reward, cdf.raw[i], cdf.estimate[i], cdf.lower[i], cdf.upper[i]];
          lines.push(values.map(field).join(","));
        });
      }
    };
    add(evaluation.policies, null);
    for (const s of evaluation.segments) add(s.policies, s.value === null ? "(null)" : String(s.value));
    return lines.join("\n") + "\n";
  }
  const files = {
    csv: () => ["slateval-cdf.csv", "text/csv", csv()],
    json: () => ["slateval-evaluation.json", "application/json", $("evaluation").textContent + "\n"],
  };
  for (const button of all("[data-download]")) {
    button.addEventListener("click", () => {
      const [name, type, text] = files[button.dataset.download]();
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // In a notebook's frame: how high the page is, so that the frame can be as high.
  if (window.parent !== window) {
    const tell = () => {
      const height = document.body.getBoundingClientRect().height;
      window.parent.postMessage({ slatevalHeight: height }, "*");
    };
    new ResizeObserver(tell).observe(document.body);
    tell();
  }
})();
