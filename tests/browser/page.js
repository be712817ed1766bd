// A page made by the real binary, in a real browser that may not reach the network.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const repository = resolve(import.meta.dirname, "../..");
const binary = resolve(process.env.SLATEVAL ?? join(repository, "target/debug/slateval"));
export const log = join(repository, "examples/slates.parquet");
export const screenshots = process.env.SCREENSHOTS ?? join(repository, "target/screenshots");
export const folder = mkdtempSync(join(tmpdir(), "slateval-"));
mkdirSync(screenshots, { recursive: true });

/** Runs `slateval` with outputs named NAME.html and NAME.json beside what else is asked for. */
export function make(name, ...more) {
  const [report, json] = [join(folder, `${name}.html`), join(folder, `${name}.json`)];
  execFileSync(binary, [...more, "--report", report, "--full-cdf", "--json", json], { stdio: ["ignore", "ignore", "inherit"] });
  return { report, url: pathToFileURL(report).href, html: readFileSync(report, "utf8"), json: JSON.parse(readFileSync(json, "utf8")) };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** Opens a page and writes down what must never happen: errors, dialogs, requests. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, acceptDownloads: true, ...options });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const troubles = [];
  page.on("console", (message) => message.type() === "error" && troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("blob:") && !request.url().startsWith("data:")) {
      troubles.push(`request: ${request.url()}`);
    }
  });
  await page.goto(url);
  return { page, troubles, close: () => context.close() };
}

export const shoot = (page, name, options = { fullPage: true }) =>
  page.screenshot({ path: join(screenshots, `${name}.png`), ...options });
