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
      const x = g.left + ((value - g.low) / (g.high - g.low)) * (g.right - g.left);
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

  // Reading off the CDFs.
  const cdfFigure = $("cdf-chart");
  const rewardSlider = $("reward-slider");
  const steps = evaluation.log.reward.distinct !== null;
  function shareAt(cdf, values, reward) {
    let [low, high] = [0, cdf.reward.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cdf.reward[middle] <= reward) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return values[0] === null ? null : 0;
    const [before, after] = [values[low - 1], values[low]];
    if (steps || after === undefined || before === null || after === null) return before;
    const part = (reward - cdf.reward[low - 1]) / (cdf.reward[low] - cdf.reward[low - 1]);
    return before + part * (after - before);
  }
  function readOff(reward) {
    mark(cdfFigure, reward);
    const shown = fixed(reward, tails.decimals);
    $("reward-value").textContent = shown;
    rewardSlider.setAttribute("aria-valuetext", "reward " + shown);
    for (const row of all("#cdf-table tbody tr")) {
      const cdf = evaluation.policies[row.dataset.policy].cdf;
      const [share, lower, upper] = [cdf.estimate, cdf.lower, cdf.upper].map((v) => shareAt(cdf, v, reward));
      const [first, second] = all("td", row);
      const write = (value) => (value === null ? "–" : fixed(100 * value, 1) + "%");
      first.textContent = write(share);
      second.textContent = lower === null && upper === null ? "–" : `[${write(lower)}, ${write(upper)}]`;
    }
  }
  const [lowest, highest] = [rewardSlider.dataset.low, rewardSlider.dataset.high].map(Number);
  const chosenReward = () => {
    const part = Number(rewardSlider.value) / 1000;
    return part === 1 ? highest : lowest + part * (highest - lowest);
  };
  rewardSlider.addEventListener("input", () => readOff(chosenReward()));
  follow(cdfFigure, (reward) => {
    rewardSlider.value = String(Math.round((1000 * (reward - lowest)) / (highest - lowest)));
    readOff(reward);
  });
  readOff(chosenReward());

  // Tails: slider, number, chart and table show one level.
  const slider = $("tail-slider");
  const number = $("tail-number");
  function fill(cell, column, at, write) {
    const value = (end) => (column === null ? null : column[end][at]);
    const [estimate, lower, upper] = ["estimate", "lower", "upper"].map(value);
    for (const [name, exact] of Object.entries({ estimate, lower, upper })) {
      if (exact === null) delete cell.dataset[name];
      else cell.dataset[name] = String(exact);
    }
    const text = (x) => (x === null ? "–" : write(x, tails.decimals));
    cell.replaceChildren(text(estimate));
    const bounded = estimate !== null && (lower !== null || upper !== null);
    if (bounded || (estimate !== null && tails.intervals)) {
      const ends = document.createElement("span");
      ends.className = "ends";
      ends.textContent = bounded ? `[${text(lower)}, ${text(upper)}]` : "[–]";
      cell.append(" ", ends);
    }
  }
  function nearest(level) {
    let best = 0;
    tails.levels.forEach((known, i) => {
      if (Math.abs(known - level) < Math.abs(tails.levels[best] - level)) best = i;
    });
    return best;
  }
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
})();
