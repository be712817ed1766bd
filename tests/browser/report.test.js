import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder, launch, log, make, open, screenshots, shoot } from "./page.js";

const targets = ["--target", "new=pi_new", "--target", "bolder=pi_bolder"];
const nasty = "@<script>alert(1)</script>\"'&";
let browser, plain, segmented, rude, many, joint;

before(async () => {
  browser = await launch();
  plain = make("plain", "evaluate", log, ...targets, "--alpha", "0.05,0.1,0.25,0.037");
  segmented = make("segmented", "evaluate", log, ...targets, "--by", "device");
  rude = make("rude", "evaluate", log, "--target", `${nasty}=pi_new`, "--by", "device");
  many = make("many", "evaluate", manySegments(), "--target", "new=pi", "--by", "city");
  // No log can test the order for such a target: its intervals are conditional.
  joint = make("joint", "evaluate", log, ...targets, "--target-slots", "joint");
});
after(() => browser.close());

/** A log with rewards of a few values in 300 segments, from a small generator with a fixed seed. */
function manySegments() {
  let state = 1;
  const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
  const lines = ["reward,mu_1,mu_2,pi_1,pi_2,city"];
  for (let i = 0; i < 12000; i++) {
    const good = [random() < 0.5, random() < 0.5];
    const reward = good.filter((g) => g && random() < 0.7).length;
    const pi = good.map((g) => (g ? 0.7 : 0.3));
    lines.push([reward, 0.5, 0.5, ...pi, `city ${i % 300}`].join(","));
  }
  const path = join(folder, "many.csv");
  writeFileSync(path, lines.join("\n") + "\n");
  return path;
}

/** As the page writes numbers. */
const written = (value, decimals, sign = "") => {
  const text = Math.abs(value).toFixed(decimals);
  return (value < 0 && /[1-9]/.test(text) ? "−" : sign) + text;
};

async function visit(made, options, look) {
  const { page, troubles, close } = await open(browser, made.url, options);
  await look(page);
  assert.deepEqual(troubles, []);
  await close();
}

test("the page is quiet and small", async () => {
  for (const [name, made] of Object.entries({ plain, segmented, rude, many, joint })) {
    const bytes = Buffer.byteLength(made.html);
    assert.ok(bytes < 500_000, `${name}: ${bytes} bytes`);
  }
  await visit(plain, {}, async (page) => {
    await shoot(page, "light");
    assert.match(await page.locator(".headline").first().textContent(), /^new: mean \+.*% \[.*\] against logging: shown to be better; worst 10% of slates/);
  });
});

test("the same input gives the same bytes", () => {
  const again = make("plain", "evaluate", log, ...targets, "--alpha", "0.05,0.1,0.25,0.037");
  assert.equal(again.html, plain.html);
});

test("slider and typed level show the numbers of the JSON", async () => {
  await visit(plain, {}, async (page) => {
    const decimals = await page.evaluate(() => JSON.parse(document.getElementById("tail-data").textContent).decimals);
    const check = async (alpha) => {
      const near = (list) => list.find((entry) => entry.alpha === alpha);
      for (const [i, policy] of plain.json.policies.entries()) {
        const row = page.locator(`#tail-table tr[data-policy="${i}"]`);
        const expected = { var: near(policy.var), cvar: near(policy.cvar) };
        const against = plain.json.comparisons.find((c) => c.policy === policy.name && c.baseline === "logging");
        if (against) expected.difference = near(against.cvar);
        for (const [what, interval] of Object.entries(expected)) {
          const cell = row.locator(`[data-what="${what}"]`);
          for (const end of ["estimate", "lower", "upper"]) {
            const found = await cell.getAttribute(`data-${end}`);
            assert.equal(found === null ? null : Number(found), interval[end], `${policy.name} ${what} ${alpha} ${end}`);
          }
          const sign = what === "difference" ? "+" : "";
          assert.equal(
            await cell.textContent(),
            `${written(interval.estimate, decimals, sign)} [${written(interval.lower, decimals, sign)}, ${written(interval.upper, decimals, sign)}]`,
          );
        }
      }
    };
    await check(0.1);
    const marker = page.locator("#tail-chart svg.wide .marker");
    const before = await marker.getAttribute("d");
    await page.fill("#tail-number", "3.7");
    await check(0.037);
    assert.notEqual(await marker.getAttribute("d"), before);
    // What lies between two levels snaps to the nearer one, and says so.
    await page.fill("#tail-number", "24.9");
    await page.press("#tail-number", "Tab");
    assert.equal(await page.textContent("#tail-level"), "25%");
    assert.equal(await page.inputValue("#tail-number"), "25");
    await check(0.25);
    await page.focus("#tail-slider");
    for (let i = 0; i < 100 && (await page.textContent("#tail-level")) !== "5%"; i++) await page.keyboard.press("ArrowLeft");
    await check(0.05);
    assert.equal(await page.getAttribute("#tail-slider", "aria-valuetext"), "5%");
  });
});

test("conditional intervals are marked wherever they stand", async () => {
  await visit(joint, {}, async (page) => {
    const words = await page.locator(".headline").first().textContent();
    assert.match(words, /\)\? against logging: cannot tell \(holds if slots do not interact/);
    assert.doesNotMatch(words, /shown/);
    const cell = page.locator('#tail-table tr[data-policy="1"] [data-what="cvar"]');
    for (const level of ["10", "25"]) {
      await page.fill("#tail-number", level);
      assert.match(await cell.textContent(), /^0\.\d+ \(0\.\d+, 0\.\d+\)\?$/);
      assert.equal(await cell.getAttribute("data-lower"), null);
      assert.match(await cell.locator(".ends").getAttribute("title"), /^holds if slots do not interact/);
    }
    const band = page.locator('#cdf-table tr[data-policy="1"] td').nth(1);
    assert.match(await band.textContent(), /^\(.*\)\?$/);
    assert.match(await band.getAttribute("title"), /^holds if slots do not interact/);
    const edges = page.locator('#cdf-chart svg.wide .edge[data-series="1"]');
    assert.equal(await edges.count(), 2);
    assert.equal(await page.locator('#cdf-chart svg.wide .band[data-series="1"]').count(), 0);
    await page.getByRole("button", { name: "new", exact: true }).click();
    assert.ok(!(await edges.first().isVisible()));
    await shoot(page, "conditional");
  });
});

test("the legend switches lines with mouse and keyboard", async () => {
  await visit(plain, {}, async (page) => {
    const button = page.getByRole("button", { name: "bolder", exact: true });
    const line = page.locator('#cdf-chart svg.wide .line[data-series="2"]');
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    assert.ok(await line.isVisible());
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    assert.ok(!(await line.isVisible()));
    await button.focus();
    await page.keyboard.press("Space");
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    assert.ok(await line.isVisible());
  });
});

test("the CDF is read off with the pointer and the keyboard", async () => {
  await visit(plain, {}, async (page) => {
    /** What is shown is what the JSON says at the reward that is shown. */
    const check = async () => {
      const reward = Number(await page.getAttribute("#reward-slider", "data-reward"));
      const shown = Number((await page.textContent("#reward-value")).replace("−", "-"));
      assert.ok(Math.abs(shown - reward) <= 1e-5 * Math.abs(reward), `${shown} for ${reward}`);
      for (const [i, { cdf }] of plain.json.policies.entries()) {
        const at = cdf.reward.indexOf(reward);
        assert.ok(at >= 0, `${reward} is no reward of the JSON`);
        const cells = page.locator(`#cdf-table tr[data-policy="${i}"] td`);
        for (const end of ["estimate", "lower", "upper"]) {
          assert.equal(Number(await cells.first().getAttribute(`data-${end}`)), cdf[end][at], `${end} at ${reward}`);
        }
        const share = parseFloat(await cells.first().textContent());
        assert.ok(Math.abs(share - 100 * cdf.estimate[at]) <= 0.0501, `${share} at ${reward}`);
      }
    };
    await check();
    await page.focus("#reward-slider");
    for (const key of ["ArrowRight", "ArrowRight", "PageUp", "ArrowLeft", "PageDown", "Home"]) {
      await page.keyboard.press(key);
      await check();
    }
    await page.keyboard.press("End");
    assert.equal(await page.locator("#cdf-table tbody tr").first().locator("td").first().textContent(), "100.0%");
    const box = await page.locator("#cdf-chart svg.wide").boundingBox();
    for (const part of [0.2, 0.5, 0.8]) {
      await page.mouse.move(box.x + part * box.width, box.y + box.height / 2);
      await check();
    }
  });
});

test("dark by preference and by choice", async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await visit(segmented, { colorScheme: "dark" }, async (page) => {
    assert.equal(await paper(page), "rgb(20, 23, 27)");
    await shoot(page, "dark");
    await page.click("#theme");
    assert.equal(await paper(page), "rgb(251, 251, 250)");
  });
  await visit(plain, { colorScheme: "light" }, async (page) => {
    await page.click("#theme");
    assert.equal(await paper(page), "rgb(20, 23, 27)");
  });
});

test("nothing but tables scrolls sideways on a phone", async () => {
  for (const [name, made] of Object.entries({ plain, segmented, rude, many, joint })) {
    await visit(made, { viewport: { width: 375, height: 800 } }, async (page) => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 375, `${name}: ${width}`);
      if (name === "segmented") await shoot(page, "phone");
    });
  }
});

test("tables of segments need no scrolling, on screen and on paper", async () => {
  await visit(segmented, { viewport: { width: 1100, height: 900 } }, async (page) => {
    const wide = () =>
      page.locator("#segments .scroll").evaluateAll((all) => all.filter((s) => s.scrollWidth > s.clientWidth + 1).length);
    assert.equal(await wide(), 0);
    await page.locator("#segments").screenshot({ path: join(screenshots, "segments.png") });
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 718, height: 1047 });
    assert.equal(await wide(), 0);
    const verdicts = await page.locator("#result #segment-verdicts li").allTextContents();
    assert.match(verdicts[0], /^new, mean: of 3 segments, shown to gain in \d \(.*shown to lose in .*cannot be told in /);
    assert.match(verdicts.join(" "), /Largest shown gain: /);
  });
});

test("printed, it is light and has no controls", async () => {
  await visit(segmented, { colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.ok(!(await page.locator("#tail-slider").isVisible()));
    assert.ok(!(await page.locator("#theme").isVisible()));
    assert.ok(await page.locator("#cdf-chart svg.wide").isVisible());
    assert.ok(await page.locator("#metrics").isVisible());
    assert.ok(await page.locator("#tail-levels").isVisible());
    await page.setViewportSize({ width: 794, height: 1123 });
    await shoot(page, "print");
  });
});

test("without a script everything can be read", async () => {
  await visit(segmented, { javaScriptEnabled: false }, async (page) => {
    for (const id of ["#cdf-chart svg.wide", "#tail-levels", "#metrics", "#differences", "#segments-table", "#command"]) {
      assert.ok(await page.locator(id).isVisible(), id);
    }
    assert.equal(await page.locator("button:visible").count(), 0);
    assert.ok(!(await page.locator("#tail-slider").isVisible()));
    await shoot(page, "no-script");
  });
});

async function download(page, kind) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(`[data-download="${kind}"]`)]);
  return readFileSync(await file.path(), "utf8");
}

/** Takes CDFs out, for they are thinned. */
const withoutCdfs = (evaluation) => JSON.parse(JSON.stringify(evaluation, (key, value) => (key === "cdf" ? undefined : value)));

test("downloads hold what the JSON holds", async () => {
  await visit(many, {}, async (page) => {
    const found = JSON.parse(await download(page, "json"));
    // Rewards of three values: nothing is thinned, but 300 segments are too many for a page.
    assert.deepEqual({ ...found, segments: many.json.segments }, many.json);
    assert.match(await page.locator("footer").textContent(), /no segments/);
  });
  await visit(segmented, {}, async (page) => {
    const found = JSON.parse(await download(page, "json"));
    assert.deepEqual(withoutCdfs(found), withoutCdfs(segmented.json));
    assert.match(await page.locator("footer").textContent(), /at most 240 points; the files that --cdf and --json --full-cdf write have all/);
    const lines = (await download(page, "csv")).trimEnd().split("\n");
    assert.equal(lines[0], "policy,segment,reward,raw,estimate,lower,upper");
    const points = new Map();
    const note = (policies, segment) => {
      for (const { name, cdf } of policies) {
        cdf.reward.forEach((reward, i) => points.set(`${name},${segment},${reward}`, [cdf.raw[i], cdf.estimate[i], cdf.lower[i], cdf.upper[i]]));
      }
    };
    note(segmented.json.policies, "");
    for (const s of segmented.json.segments) note(s.policies, s.value);
    for (const line of lines.slice(1)) {
      const [policy, segment, reward, ...values] = line.split(",");
      assert.deepEqual(values.map((v) => (v === "" ? null : Number(v))), points.get(`${policy},${segment},${reward}`), line);
    }
    assert.ok(lines.length > 3 * 200);
  });
});

test("tables are copied as tab-separated text", async () => {
  await visit(segmented, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    const copied = async (id) => {
      await page.click(`[data-copy="${id}"]`);
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const rows = (await copied("segments-table")).split("\n").map((row) => row.split("\t"));
    assert.deepEqual(rows[0], ["device", "slates", "mean: logging", "new", "difference", "CVaR 10%: difference"]);
    assert.match(await copied("segments-table-2"), /bolder/);
    assert.deepEqual(rows.map((r) => r[0]).slice(1), ["desktop", "phone", "tablet"]);
    assert.ok(rows.every((row) => row.length === rows[0].length));
    assert.match(await copied("command"), /^slateval evaluate .*--by device/);
  });
});

test("a name is text wherever it stands", async () => {
  assert.ok(!rude.html.includes("<script>alert"));
  await visit(rude, {}, async (page) => {
    assert.ok((await page.locator("h1").textContent()).includes("<script>alert(1)</script>"));
    assert.ok((await page.locator("#metrics thead").textContent()).includes("<script>alert(1)</script>"));
    assert.equal(JSON.parse(await download(page, "json")).policies[1].name, nasty);
    const csv = await download(page, "csv");
    // What begins like a formula gets a quote before it, so that spreadsheets take it for text.
    assert.ok(csv.includes(`"'${nasty.replaceAll('"', '""')}"`));
    await shoot(page, "rude");
  });
});

test("many segments are cut, and the page says so", async () => {
  await visit(many, {}, async (page) => {
    assert.equal(await page.locator("#segments-table tbody tr").count(), 200);
    assert.equal(await page.locator("#segments .tiles figure").count(), 24);
    const notes = await page.locator(".left-out").allTextContents();
    assert.match(notes[0], /Only the 200 segments .* the file that --json writes has the other 100/);
    assert.match(notes[1], /Only the 24 segments .* other 276/);
    await shoot(page, "many-segments");
  });
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test("nobody is shut out", async () => {
  for (const colorScheme of ["light", "dark"]) {
    await visit(segmented, { colorScheme, bypassCSP: true }, async (page) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const said = violations.map((v) => `${v.id}: ${v.help} (${v.nodes.map((n) => n.target).join("; ")})`);
      assert.deepEqual(said, [], colorScheme);
      const levels = await page.locator("h1, h2, h3, h4").evaluateAll((all) => all.map((h) => Number(h.tagName[1])));
      assert.equal(levels[0], 1);
      levels.slice(1).forEach((level, i) => assert.ok(level <= levels[i] + 1, `heading ${i + 1}`));
      const unnamed = await page.locator("svg:not([aria-hidden])").evaluateAll((all) => all.filter((s) => !s.querySelector("title")?.textContent).length);
      assert.equal(unnamed, 0);
    });
  }
});
