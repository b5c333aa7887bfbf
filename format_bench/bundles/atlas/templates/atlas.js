
// A reader's own bundle beside the numbers of the page. It is read here, and kept for this tab alone.
(() => {
  // As a bundle is refused by `format-bench verify`.
  const MOST_BYTES = {{ most_bytes }};
  const STORED = "format-bench-atlas";
  const part = (name) => document.getElementById(name);
  const status = part("mine-status");
  const hint = status.textContent;

  async function unpacked(file) {
    const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let [text, total] = ["", 0];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      total += value.length;
      if (total > MOST_BYTES) throw new Error("it is too large");
      text += decoder.decode(value, { stream: true });
    }
  }

  // The fields that pages compare, of the records with a value.
  async function recordsOf(file) {
    if (file.size > MOST_BYTES) throw new Error("it is too large");
    const [head, ...lines] = (await unpacked(file)).trim().split("\n");
    if (JSON.parse(head).form !== "{{ form }}") throw new Error("it has no head of a bundle");
    return lines
      .map((line) => JSON.parse(line))
      .filter((each) => Number.isFinite(each.value) && each.value > 0)
      .map(({ suite, dataset, rows, query, conditions, format, codec, level, metric, value }) => {
        const { cache, threads, track, settings, ...apart } = conditions;
        return {
          suite: suite.split(".")[0],
          place: JSON.stringify([dataset, rows, threads ?? "all", query, Object.entries(apart).sort()]),
          of: JSON.stringify([format, codec, level, settings ?? "", track ?? ""]),
          measure: JSON.stringify([metric, cache === "cold" ? cache : ""]),
          value,
        };
      });
  }

  const median = (numbers) => {
    const sorted = numbers.toSorted((a, b) => a - b);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  };

  // Ranks from 0; equal values share their mean rank.
  const ranks = (values) =>
    values.map((one) => {
      const below = values.filter((each) => each < one).length;
      return below + (values.filter((each) => each === one).length - 1) / 2;
    });

  function spearman(one, other) {
    const [a, b] = [ranks(one), ranks(other)].map((each) => each.map((rank) => rank - (each.length - 1) / 2));
    const sum = (x, y) => x.reduce((total, value, place) => total + value * y[place], 0);
    return sum(a, b) / Math.sqrt(sum(a, a) * sum(b, b));
  }

  const UNITS = {{ steps|tojson }};

  function quantity(value, unit) {
    const steps = UNITS[unit];
    const [size, name] = steps.find(([least]) => value >= 0.9995 * least) ?? steps.at(-1);
    return `${Number((value / size).toPrecision(3))} ${name}`;
  }

  function ratioText(value) {
    if (value < 0.1) return String(Number(value.toPrecision(3)));
    return value < 99.95 ? value.toFixed(value < 9.995 ? 2 : 1) : Math.round(value).toLocaleString("en");
  }

  function add(row, text, name) {
    const cell = document.createElement(row.closest("thead") ? "th" : "td");
    cell.textContent = text;
    cell.className = `own ${name}`;
    row.append(cell);
    return cell;
  }

  function showIn(section, own) {
    const [header, ...rows] = Array.from(section.querySelector("table").rows);
    const found = rows.filter((row) => own.has(row.dataset.of));
    add(header, "yours", "");
    add(header, "times the best", "");
    const logs = found.map((row) => Math.log(own.get(row.dataset.of)));
    const typical = found.map((row) => Math.log(row.dataset.typical));
    const level = found.length ? median(logs.map((log, place) => log - typical[place])) : 0;
    for (const row of rows) {
      const value = own.get(row.dataset.of);
      if (value === undefined) {
        add(row, "", "");
        add(row, "", "");
        continue;
      }
      const ratio = value / Math.exp(level);
      const outside = ratio < row.dataset.low || ratio > row.dataset.high;
      add(row, quantity(value, section.dataset.unit), "").dataset.value = value;
      add(row, ratioText(ratio), outside ? "outside" : "").dataset.value = ratio;
    }
    const rho = found.length > 2 ? spearman(logs, typical) : NaN;
    section.querySelector("p .own").textContent = found.length
      ? ` Yours: ${found.length} formats${Number.isNaN(rho) ? "" : `, rho ${rho.toFixed(2)}`}; bold where outside of the ends.`
      : " Your bundle has none of these.";
  }

  function clear() {
    for (const each of document.querySelectorAll("th.own, td.own")) each.remove();
    for (const each of document.querySelectorAll("p .own")) each.textContent = "";
    part("mine-away").hidden = true;
    status.textContent = hint;
  }

  function show({ name, records }) {
    clear();
    part("mine-away").hidden = false;
    const holder = part("atlas-data");
    if (!holder) {
      status.textContent = `${name}: ${records.length} values, shown on the pages of data.`;
      return;
    }
    const page = JSON.parse(holder.textContent);
    const here = records.filter((each) => each.place === page.place && page.suites.includes(each.suite));
    status.textContent = `${name}: ${here.length} of ${records.length} values belong to this page. They are not verified.`;
    for (const section of document.querySelectorAll(".measure")) {
      const measure = JSON.stringify([section.dataset.metric, section.dataset.cache]);
      showIn(section, new Map(here.filter((each) => each.measure === measure).map((each) => [each.of, each.value])));
    }
  }

  part("mine-file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    try {
      const opened = { name: file.name, records: await recordsOf(file) };
      show(opened);
      sessionStorage.setItem(STORED, JSON.stringify(opened));
    } catch (error) {
      // What is shown stays; only the next page will not have a bundle too large to keep.
      if (error.name !== "QuotaExceededError") status.textContent = `${file.name} is no bundle: ${error.message}`;
    }
  });
  part("mine-away").addEventListener("click", () => {
    sessionStorage.removeItem(STORED);
    part("mine").reset();
    clear();
  });
  part("mine").hidden = false;
  const stored = sessionStorage.getItem(STORED);
  if (stored) show(JSON.parse(stored));
})();
