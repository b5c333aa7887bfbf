// The chooser: ranks configurations as format_bench.recommendation does, from the data in the page.
(() => {
  "use strict";

  const holder = document.getElementById("choose-data");
  if (!holder) return;

  // From formulas.py.
  {{ formulas | indent(2) }}

  const data = JSON.parse(holder.textContent);
  const part = (name) => document.getElementById(`choose-${name}`);
  const form = part("form");
  const MOST_WEIGHT = 10;
  // Bars end at this many times the upper end of the first one.
  const BAR_END = 4;
  const STEP = 0.5;

  // Cells: a number, a number with its interval, the number of a reason as text, or null.

  const isEmpty = (cell) => cell === null || typeof cell === "string";
  const numberOf = (cell) => (Array.isArray(cell) ? cell[0] : cell);

  const bandOf = (cell) => (Array.isArray(cell) ? [cell[1], cell[2]] : [cell, cell]);

  // The cell of a mix of questions, as questions.py has it: the mean time of a question.
  function mixed(cells, times) {
    const asked = cells.filter((_, question) => times[question]);
    const lacking = asked.find(isEmpty);
    if (lacking !== undefined) return lacking;
    const meanOf = (part) => mean_time(times.filter(Boolean), asked.map(part));
    if (!asked.every(Array.isArray)) return meanOf(numberOf);
    return [0, 1, 2].map((place) => meanOf((cell) => cell[place]));
  }

  // The ranking, as recommend.py and scoring.py have it.

  class Scoring {
    constructor(suite, scope, choice) {
      Object.assign(this, { suite, scope, choice });
      const named = (option) => suite.measures.findIndex((each) => each.option === option);
      this.size = named(data.transfers.size);
      this.speeds = new Map([
        [named(data.transfers.read), choice.readSpeed],
        [named(data.transfers.save), choice.saveSpeed],
      ]);
      this.measures = [...choice.weights.keys()];
      this.datasets = new Map(this.measures.map((each) => [each, this.datasetsWith(each)]));
    }

    cell(entry, dataset, measure) {
      const cell = entry.cells[dataset]?.[measure] ?? null;
      return cell && this.suite.measures[measure].mixed ? mixed(cell, this.choice.times) : cell;
    }

    datasetsWith(measure) {
      const entries = this.scope.entries.map((each) => this.suite.entries[each]);
      return this.scope.datasets.filter((dataset) =>
        entries.some((entry) => !isEmpty(this.cell(entry, dataset, measure))),
      );
    }

    // Cells that an entry must have: those of its measures, reads, and sizes where files are transferred.
    needed() {
      const found = new Map(this.datasets);
      const read = this.suite.read === null ? [] : this.datasetsWith(this.suite.read);
      if (read.length) found.set(this.suite.read, read);
      const timed = this.measures.filter((each) => this.speeds.get(each));
      const sizes = timed.flatMap((each) => this.datasets.get(each));
      if (sizes.length) found.set(this.size, [...new Set([...(found.get(this.size) ?? []), ...sizes])]);
      return found;
    }

    emptyReason(entry) {
      const needed = this.needed();
      const every = [...new Set([...needed.values()].flat())];
      // Suites that count no losses verify what they read all the same: a failed check excludes, none does not.
      const checked = this.suite.loss === null ? [] : [[this.suite.loss, every]];
      for (const [measure, datasets] of [...needed, ...checked]) {
        for (const dataset of datasets) {
          const cell = this.cell(entry, dataset, measure);
          if (!isEmpty(cell) || (cell === null && !needed.has(measure))) continue;
          const what = `${this.suite.measures[measure].phrase} of ${this.suite.datasets[dataset][0]}`;
          const reason = cell === null ? "not measured" : this.suite.sentences[Number(cell)];
          return `${entry.name} has no ${what}: ${reason}`;
        }
      }
      return "";
    }

    unmet(entry) {
      const every = new Set([...this.datasets.values()].flat());
      return this.choice.required.flatMap((requirement) => {
        const answers =
          requirement === "exact"
            ? [...every].map((dataset) => entry.exact[dataset])
            : [entry.answers[requirement]];
        const first = answers.find((each) => each !== null);
        return first === undefined ? [] : [{ requirement, sentence: this.suite.sentences[first] }];
      });
    }

    value(entry, dataset, measure) {
      return this.transferred(entry, dataset, measure, numberOf);
    }

    band(entry, dataset, measure, end) {
      return this.transferred(entry, dataset, measure, (cell) => bandOf(cell)[end]);
    }

    // A number of a cell with that of the size, if its files are transferred.
    transferred(entry, dataset, measure, numberIn) {
      const of = (each) => numberIn(this.cell(entry, dataset, each));
      const speed = this.speeds.get(measure);
      return transferred(of(measure), speed && of(this.size), speed);
    }

    setBest(entries) {
      const least = (measure, dataset) =>
        Math.min(...entries.map((entry) => this.value(entry, dataset, measure)));
      this.best = new Map(
        this.measures.map((measure) => [
          measure,
          new Map(this.datasets.get(measure).map((dataset) => [dataset, least(measure, dataset)])),
        ]),
      );
    }

    scoreOf(valueAt) {
      const logs = this.measures.map((measure) => {
        const best = this.best.get(measure);
        const values = [...best.keys()].map((dataset) => valueAt(dataset, measure));
        return log_factor(values, [...best.values()], this.suite.measures[measure].shift);
      });
      return weighted(logs, [...this.choice.weights.values()]);
    }

    score(entry) {
      return this.scoreOf((dataset, measure) => this.value(entry, dataset, measure));
    }

    scoreBand(entry) {
      return [0, 1].map((end) =>
        this.scoreOf((dataset, measure) => this.band(entry, dataset, measure, end)),
      );
    }

    ratio(entry, measure) {
      const best = this.best.get(measure);
      const values = [...best.keys()].map((dataset) => this.value(entry, dataset, measure));
      return times_best(values, [...best.values()]);
    }

    // Whether bands are known: times of one sample do not show how they vary.
    knowsNoise(entries) {
      const timed = this.measures.filter((each) => this.suite.measures[each].unit === "seconds");
      return timed.every((measure) =>
        this.datasets.get(measure).every((dataset) =>
          entries.every((entry) => Array.isArray(this.cell(entry, dataset, measure))),
        ),
      );
    }
  }

  function rank(suite, scope, choice) {
    const scoring = new Scoring(suite, scope, choice);
    const left = [];
    const excluded = [];
    for (const number of scope.entries) {
      const entry = suite.entries[number];
      const [unmet, empty] = [scoring.unmet(entry), scoring.emptyReason(entry)];
      if (unmet.length || empty) excluded.push({ entry, unmet, empty });
      else left.push(entry);
    }
    if (!left.length) return { ranked: [], excluded, measures: scoring.measures, knowsNoise: true };
    scoring.setBest(left);
    const ranked = left.map((entry) => ({
      entry,
      score: scoring.score(entry),
      band: scoring.scoreBand(entry),
      ratios: scoring.measures.map((measure) => scoring.ratio(entry, measure)),
    }));
    ranked.sort((a, b) => a.score - b.score || (a.entry.name < b.entry.name ? -1 : 1));
    const bands = ranked.map(({ band }) => band);
    for (const each of ranked) {
      each.places = [best_place(each.band, bands), worst_place(each.band, bands)];
      each.ties = is_tie(each.band, bands[0]);
    }
    for (const each of excluded) if (!each.empty) each.score = scoring.score(each.entry);
    return { ranked, excluded, measures: scoring.measures, knowsNoise: scoring.knowsNoise(left) };
  }

  // Controls: native inputs, built from the data.

  function make(tag, facts = {}, ...children) {
    const found = Object.assign(document.createElement(tag), facts);
    found.append(...children);
    return found;
  }

  const labelled = (text, control) => make("label", {}, make("span", { textContent: text }), control);
  const option = (value, text) => make("option", { value, textContent: text });
  const fieldset = (title, ...children) =>
    make("fieldset", {}, make("legend", { textContent: title }), ...children);

  const suiteControl = make("select", { name: "suite" });
  const datasetControl = make("select", { name: "dataset" });
  const presets = make("div", { className: "presets" });
  const sliders = make("div");
  const more = make("details", {}, make("summary", { textContent: "More measures" }));
  const moreSliders = make("div");
  more.append(moreSliders);
  const questions = make("details", {}, make("summary", { textContent: "Questions" }));
  const numbers = make("div");
  questions.append(
    make("p", { className: "hint", textContent: "How often each is asked; the mean time of a question counts as query time." }),
    numbers,
  );
  const speedControl = (name) =>
    make("input", { type: "number", name, min: "0", step: "any", inputMode: "decimal" });
  const readSpeed = speedControl("read-speed");
  const saveSpeed = speedControl("save-speed");
  const ticks = Object.entries(data.requirements).map(([name, meaning]) => {
    const tick = make("input", { type: "checkbox", name: "require", value: name });
    return make("label", { className: "tick" }, tick, make("span", {}, make("b", { textContent: name }), ` ${meaning}`));
  });

  const suiteNow = () => data.suites.find((each) => each.name === suiteControl.value);
  const scopeNow = () => suiteNow().scopes[Math.max(datasetControl.selectedIndex, 0)];
  const times = () => [...numbers.querySelectorAll("input")];
  const ranges = () => [...form.querySelectorAll("input[type=range]")];
  const presetsNow = () => scopeNow().presets ?? suiteNow().scopes[0].presets;

  const source = fieldset("Data");
  // Long rankings are cut, so that pictures are not screens below; the style sheet has the number, too.
  const FEW = 12;
  const rest = make("button", { type: "button", className: "rest-of-table" });
  rest.addEventListener("click", () => {
    part("table").classList.remove("few");
    rest.hidden = true;
    part("table").closest(".scroll").focus();
  });

  function build() {
    suiteControl.append(...data.suites.map((each) => option(each.name, each.title)));
    const speeds = make("datalist", { id: "choose-speeds" });
    speeds.append(...Object.entries(data.speeds).map(([name, speed]) => make("option", { value: speed, label: name })));
    const typical = Object.entries(data.speeds).map(([name, speed]) => `${name} is ${speed}`);
    for (const each of [readSpeed, saveSpeed]) each.setAttribute("list", speeds.id);
    source.append(labelled("suite", suiteControl), labelled("data set", datasetControl));
    source.classList.add("pair");
    if (data.suites.length === 1) suiteControl.parentElement.hidden = true;
    const link = fieldset(
      "Link or disk",
      labelled("fetched before each read at, MB/s", readSpeed),
      labelled("sent after each save at, MB/s", saveSpeed),
      make("p", { className: "hint", textContent: `Adds size / speed to the time; empty for none. ${typical.join(", ")}.` }),
      speeds,
    );
    link.classList.add("pair");
    // On a phone the ranking would be screens below the controls.
    const open = matchMedia("(min-width: 60rem)").matches;
    form.append(
      fieldset("Purpose", presets),
      make(
        "details",
        { open },
        make("summary", { textContent: "Data, weights and requirements" }),
        source,
        fieldset("Weights", sliders, more, questions),
        fieldset("Requirements", ...ticks),
        link,
      ),
    );
    setSuite(data.suites[0].name);
  }

  function setSuite(name) {
    suiteControl.value = name;
    const suite = suiteNow();
    datasetControl.replaceChildren(
      ...suite.scopes.map(({ dataset }) => option(dataset ?? "", dataset ?? `all ${suite.scopes.length - 1} data sets`)),
    );
    datasetControl.parentElement.hidden = suite.scopes.length === 1;
    source.hidden = data.suites.length === 1 && suite.scopes.length === 1;
    for (const [box, main] of [[sliders, true], [moreSliders, false]]) {
      box.replaceChildren(...suite.measures.filter((each) => each.main === main).map(slider));
    }
    more.hidden = !moreSliders.children.length;
    numbers.replaceChildren(...suite.questions.map(timesControl));
    questions.hidden = !suite.questions.length;
    setScope();
  }

  function slider({ option: name, phrase }) {
    const range = make("input", { type: "range", name, min: "0", max: MOST_WEIGHT, step: STEP, value: "0" });
    // The slider announces its value itself.
    const shown = make("span", { ariaHidden: "true", textContent: "0" });
    const row = labelled(phrase, range);
    row.className = "weight";
    row.append(shown);
    return row;
  }

  function timesControl(name) {
    const control = make("input", { type: "number", name: "question", min: "0", step: "any", inputMode: "decimal" });
    control.dataset.question = name;
    // The mix counts from its first question on, as on the command line.
    control.addEventListener("input", () => {
      const mixes = ranges().filter((each) => suiteNow().measures.find(({ option: own }) => own === each.name).mixed);
      if (timesNow().some(Boolean) && !mixes.some((each) => Number(each.value) > 0)) mixes[0].value = "1";
    });
    const row = labelled(name, control);
    row.className = "times";
    return row;
  }

  const timesNow = () => times().map((each) => Math.max(0, each.valueAsNumber || 0));

  function setTimes(given) {
    for (const each of times()) each.value = Number(given[each.dataset.question]) > 0 ? given[each.dataset.question] : "";
    if (timesNow().some(Boolean)) questions.open = true;
  }

  function setScope() {
    const [suite, scope] = [suiteNow(), scopeNow()];
    const offered = new Set(scope.measures.map((each) => suite.measures[each].option));
    for (const each of ranges()) each.disabled = !offered.has(each.name);
    for (const each of [readSpeed, saveSpeed]) each.disabled = !offered.has(data.transfers.size);
    const names = Object.keys(presetsNow());
    presets.replaceChildren(
      ...names.map((name) => {
        const button = make("button", { type: "button", textContent: name || "all alike", value: name });
        button.title = data.presets[name] ?? "save time, read time and size count alike";
        button.addEventListener("click", () => {
          setPreset(name);
          changed();
        });
        return button;
      }),
    );
  }

  function setWeights(weights) {
    for (const each of ranges()) {
      // Text that is not a number would set the middle of the range.
      each.value = Number(weights[each.name]) || 0;
      each.nextElementSibling.textContent = each.value;
    }
    const folded = ranges().filter((each) => more.contains(each) && Number(each.value) > 0);
    if (folded.length) more.open = true;
  }

  function setRequired(names) {
    for (const each of form.elements) if (each.name === "require") each.checked = names.includes(each.value);
  }

  function setPreset(name) {
    const [weights, required] = presetsNow()[name];
    setWeights(weights);
    setRequired(required);
  }

  const speedOf = (control) => {
    const number = control.disabled ? 0 : control.valueAsNumber;
    return number > 0 ? number * data.megabyte : null;
  };

  function choiceNow() {
    const suite = suiteNow();
    const weights = new Map();
    const asked = timesNow();
    suite.measures.forEach(({ option: name, mixed: isMix }, number) => {
      const range = ranges().find((each) => each.name === name);
      const counts = !range.disabled && (!isMix || asked.some(Boolean));
      if (counts && Number(range.value) > 0) weights.set(number, Number(range.value));
    });
    const required = ticks.map((each) => each.firstChild).filter((each) => each.checked);
    return {
      weights,
      times: asked,
      required: required.map((each) => each.value),
      readSpeed: speedOf(readSpeed),
      saveSpeed: speedOf(saveSpeed),
    };
  }

  // The state in the address.

  const START = "#choose?";

  function write() {
    const choice = choiceNow();
    const suite = suiteNow();
    const weights = [...choice.weights].map(([each, weight]) => `${suite.measures[each].option}:${weight}`);
    const facts = {
      suite: suite.name,
      dataset: scopeNow().dataset ?? "",
      weight: weights.join(),
      question: suite.questions.flatMap((name, each) => (choice.times[each] ? [`${name}:${choice.times[each]}`] : [])).join(),
      require: choice.required.join(),
      "read-speed": choice.readSpeed && readSpeed.value,
      "save-speed": choice.saveSpeed && saveSpeed.value,
    };
    const encoded = (text) => encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");
    const set = Object.entries(facts).filter(([, value]) => value);
    history.replaceState(null, "", START + set.map(([name, value]) => `${name}=${encoded(value)}`).join("&"));
  }

  function read() {
    if (!location.hash.startsWith(START)) return false;
    const facts = new URLSearchParams(location.hash.slice(START.length));
    const known = data.suites.some(({ name }) => name === facts.get("suite"));
    setSuite(known ? facts.get("suite") : data.suites[0].name);
    const datasets = suiteNow().scopes.map(({ dataset }) => dataset ?? "");
    datasetControl.selectedIndex = Math.max(datasets.indexOf(facts.get("dataset") ?? ""), 0);
    setScope();
    const listed = (name) => (facts.get(name) ?? "").split(",").filter(Boolean);
    setWeights(Object.fromEntries(listed("weight").map((each) => each.split(":"))));
    setTimes(Object.fromEntries(listed("question").map((each) => each.split(":"))));
    setRequired(listed("require"));
    readSpeed.value = facts.get("read-speed") ?? "";
    saveSpeed.value = facts.get("save-speed") ?? "";
    return true;
  }

  // The answer.

  const decimals = (ratio) => (ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2);
  const shown = (ratio) =>
    ratio === null
      ? "> 0"
      : ratio.toLocaleString("en", { minimumFractionDigits: decimals(ratio), maximumFractionDigits: decimals(ratio) });
  const joined = (names) =>
    names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join("");

  function show() {
    const [suite, choice] = [suiteNow(), choiceNow()];
    showControls(choice, suite);
    if (!choice.weights.size) {
      part("answer").textContent = "Give a measure a weight above 0.";
      part("table").replaceChildren(part("caption"));
      part("explanation").textContent = "";
      part("excluded").hidden = true;
      part("command").hidden = true;
      return;
    }
    const found = rank(suite, scopeNow(), choice);
    showAnswer(found);
    showTable(found, suite, choice);
    part("explanation").textContent = explained(found, suite, choice);
    showExcluded(found);
    showCommand(suite, choice);
  }

  function showControls(choice, suite) {
    for (const each of ranges()) each.nextElementSibling.textContent = each.value;
    const weights = Object.fromEntries([...choice.weights].map(([each, weight]) => [suite.measures[each].option, weight]));
    for (const button of presets.children) {
      const [wanted, required] = presetsNow()[button.value];
      const same =
        Object.keys({ ...wanted, ...weights }).every((name) => wanted[name] === weights[name]) &&
        choice.required.length === required.length &&
        required.every((each) => choice.required.includes(each));
      button.setAttribute("aria-pressed", same);
    }
  }

  function showAnswer({ ranked, excluded }) {
    const out = excluded.length ? `; ${excluded.length} excluded` : "";
    if (!ranked.length) {
      part("answer").replaceChildren(make("strong", { textContent: "No format can be chosen" }), out);
      return;
    }
    const ties = ranked.slice(1).filter((each) => each.ties).map(({ entry }) => entry.name);
    if (data.too_noisy && ties.length) {
      part("answer").replaceChildren(
        make("strong", { textContent: "Too noisy to name a winner" }),
        `; candidates are ${joined([ranked[0].entry.name, ...ties])}`,
      );
      return;
    }
    const tied = ties.length > 3 ? `${ties.length} ties` : `${ties.length > 1 ? "ties" : "tie"}: ${joined(ties)}`;
    part("answer").replaceChildren(
      "Use ",
      make("strong", { textContent: ranked[0].entry.name }),
      `, best of ${ranked.length}${out}${ties.length ? `; ${tied}` : ""}`,
    );
  }

  function showTable({ ranked, measures }, suite, choice) {
    const head = (text) => make("th", { scope: "col", textContent: text });
    const weighed = measures.map((each) => head(`${suite.measures[each].phrase} (${choice.weights.get(each)})`));
    const top = make("tr", {}, ...["format", "place", "score", "range of the score"].map(head), ...weighed, head("code"));
    // Without an end, one slow format would leave no width to see ties by.
    const end = ranked.length ? BAR_END * ranked[0].band[1] : 1;
    const widest = Math.log(Math.max(1.0001, Math.min(end, Math.max(...ranked.map(({ band }) => band[1])))));
    const at = (score) => `${Math.min(100, (100 * Math.max(Math.log(score), 0)) / widest)}%`;
    const rows = ranked.map((each, place) => {
      const score = make("td", { textContent: shown(each.score) });
      score.dataset.value = each.score;
      const [low, high] = each.band;
      // Styles set by a script are allowed by the page's policy, unlike those in its text.
      const bar = make("i", { className: "band" }, make("i"), make("b"));
      bar.setAttribute("aria-hidden", "true");
      bar.style.setProperty("--tie", at(ranked[0].band[1]));
      bar.firstChild.style.left = at(low);
      bar.firstChild.style.right = `calc(100% - ${at(high)})`;
      bar.lastChild.style.left = at(each.score);
      bar.classList.toggle("beyond", each.score > end);
      const word = place === 0 ? "best" : each.ties ? "tie" : "";
      const [first, last] = each.places;
      return make(
        "tr",
        {},
        make("th", { scope: "row", textContent: each.entry.name }),
        make("td", { textContent: first === last ? first : `${first}–${last}` }),
        score,
        make("td", { className: word, title: `score ${shown(low)} to ${shown(high)}` }, bar, make("span", { textContent: word })),
        ...each.ratios.map((ratio) => make("td", { textContent: shown(ratio) })),
        make("td", {}, ...codeOf(each.entry)),
      );
    });
    const table = part("table");
    table.replaceChildren(part("caption"), make("thead", {}, top), make("tbody", {}, ...rows));
    rest.textContent = `Show all ${rows.length}`;
    rest.hidden = rows.length <= FEW || !table.classList.contains("few");
  }

  // The same as code.html; code.js copies.
  function codeOf({ code, card }) {
    const folded = (title, className, ...parts) =>
      make("details", { className, name: "ranked" }, make("summary", { textContent: title }), ...parts);
    const text = make("pre", { tabIndex: 0 }, make("code", { textContent: code }));
    const button = make("button", { type: "button", className: "copy", textContent: "copy" });
    const settings = make("pre", { tabIndex: 0, textContent: card });
    return [
      ...(code ? [folded("code", "code", button, text)] : []),
      ...(card ? [folded("settings", "code card", settings)] : []),
    ];
  }

  function explained({ ranked, excluded, measures, knowsNoise }, suite, choice) {
    const counted = measures.map((each) => `${suite.measures[each].phrase} (weight ${choice.weights.get(each)})`);
    const sentences = [`Counting ${joined(counted)}.`];
    if (choice.required.length) sentences.push(`Required: ${joined(choice.required)}.`);
    const weighed = new Set(measures.map((each) => suite.measures[each].option));
    const added = [["read", choice.readSpeed], ["save", choice.saveSpeed]].filter(([, speed]) => speed);
    for (const [what, speed] of added) {
      const counts = weighed.has(data.transfers[what]);
      sentences.push(
        counts
          ? `Each ${what} includes the transfer at ${speed / data.megabyte} MB/s.`
          : `The speed of the transfer for each ${what} does not count, since ${what} time has no weight.`,
      );
    }
    const best = ranked[0]?.score ?? 0;
    const better = excluded.filter(({ score }) => score < best).sort((a, b) => a.score - b.score);
    for (const { entry, unmet } of better.slice(0, 2)) {
      sentences.push(`${entry.name} would come first, but ${joined(unmet.map(({ sentence }) => sentence))}.`);
    }
    if (!knowsNoise) sentences.push("Ties are not known: times of one sample do not show how they vary.");
    return sentences.join(" ");
  }

  function showExcluded({ ranked, excluded }) {
    const box = part("excluded");
    box.hidden = !excluded.length;
    if (!ranked.length) box.open = true;
    box.querySelector("summary").textContent = `Excluded: ${excluded.length}`;
    box.querySelector("ul").replaceChildren(
      ...excluded.map(({ entry, unmet, empty }) => {
        const line = make("li", { textContent: unmet.map(({ sentence }) => sentence).join("; ") || empty });
        line.dataset.name = entry.name;
        return line;
      }),
    );
  }

  function showCommand(suite, choice) {
    const quoted = (text) => (/^[\w.@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
    const words = data.command ? [data.command] : ["format-bench recommend RESULTS --suite", suite.name];
    const { dataset } = scopeNow();
    if (dataset !== null) words.push("--dataset", quoted(dataset));
    for (const [each, weight] of choice.weights) words.push("--weight", `${suite.measures[each].option}=${weight}`);
    const isMixed = [...choice.weights.keys()].some((each) => suite.measures[each].mixed);
    suite.questions.forEach((name, each) => {
      if (isMixed && choice.times[each]) words.push("--question", `${name}=${choice.times[each]}`);
    });
    for (const each of choice.required) if (each !== "lossless") words.push("--require", each);
    const isLossy = (each) => suite.entries[each].answers.lossless !== null;
    if (!choice.required.includes("lossless") && scopeNow().entries.some(isLossy)) words.push("--allow-lossy");
    if (choice.readSpeed) words.push("--read-speed", choice.readSpeed / data.megabyte);
    if (choice.saveSpeed) words.push("--save-speed", choice.saveSpeed / data.megabyte);
    part("command").hidden = false;
    part("command").querySelector("code").textContent = words.join(" ");
  }

  function changed() {
    show();
    write();
  }

  build();
  part("table").classList.add("few");
  part("table").closest(".scroll").after(rest);
  setPreset("");
  const shared = read();
  part("static").hidden = true;
  part("hint").hidden = false;
  form.hidden = false;
  show();
  if (shared) document.getElementById("choose").scrollIntoView();

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target === suiteControl) {
      setSuite(suiteControl.value);
      setPreset("");
    } else if (event.target === datasetControl) setScope();
    show();
  });
  // Not on each input: browsers limit how often an address may change.
  form.addEventListener("change", write);
  window.addEventListener("hashchange", () => {
    if (read()) show();
  });
  // A page may have values of its own, which it learns later.
  document.addEventListener("choose-data", ({ detail: fill }) => {
    fill(data);
    show();
  });
})();
