// Predicts the values of the reader's table as format_bench.prediction does, for the chooser.
(() => {
  "use strict";

  const holder = document.getElementById("own-model");
  if (!holder) return;

  // From model.py.
  {{ prediction_formulas | indent(2) }}

  const model = JSON.parse(holder.textContent);
  const part = (name) => document.getElementById(`own-${name}`);

  // The distances and covariances of the measured tables, and their order, the nearest first.
  function evidenceOf({ features }) {
    const place = model.features.map((name, n) => scaled(features[name], model.centre[n], model.weights[n]));
    const distances = model.places.map((each) => distance(place, each));
    const covariances = model.places.map((each) => covariance(place, each, model.linear, model.local));
    const order = distances.map((_, n) => n).sort((a, b) => distances[a] - distances[b]);
    return { distances, covariances, order };
  }

  // The value of the nearest table that has one.
  const nearestOf = (values, order) => values[order.find((n) => n in values)];

  function predicted(cell, profile, { covariances, order }) {
    if (!cell.weights) return nearestOf(cell.of, order);
    const cells = profile.rows * profile.columns;
    const extent = Math.max(1, cell.unit === "bytes" ? profile.value_bytes : cells);
    const value = exp(log_value(cell.centre, covariances, cell.weights)) * extent;
    return [value, value / cell.factor, value * cell.factor];
  }

  // Fills the cells of the chooser in, and returns the error of each measure.
  function fill(data, profile, evidence) {
    const [suite] = data.suites;
    const numbers = new Map(suite.sentences.map((text, number) => [text, number]));
    const sentence = (text) => {
      if (!numbers.has(text)) numbers.set(text, suite.sentences.push(text) - 1);
      return numbers.get(text);
    };
    const factors = new Map(suite.measures.map(({ option }) => [option, []]));
    for (const entry of suite.entries) {
      const known = model.entries[entry.name];
      const kind = [...profile.kinds].sort().find((each) => each in known.refused);
      const refusal = kind && `unsupported: ${known.refused[kind]}`;
      entry.cells[0] = suite.measures.map(({ option }) => {
        const cell = known.cells[option];
        if (!cell) return null;
        if (cell.weights && !refusal) factors.get(option).push(cell.factor);
        const value = refusal || predicted(cell, profile, evidence);
        return typeof value === "string" ? String(sentence(value)) : value;
      });
      const isVerified = evidence.order.some((n) => n in known.exact);
      let loss = isVerified ? nearestOf(known.exact, evidence.order) : known.unverified;
      if (isVerified && refusal) loss = `${entry.name} has no ${model.loss} of ${model.name}: ${refusal}`;
      entry.exact[0] = loss === null ? null : sentence(loss);
    }
    suite.datasets[0] = [model.name, profile.rows];
    return factors;
  }

  // Remarks in the words of `format-bench predict`.
  function remarksOf(profile, { distances, order }, suite, factors) {
    const near = order.slice(0, model.nearest).map((n) => `${model.tables[n]} (${distances[n].toFixed(1)})`);
    const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
    const errors = suite.measures
      .filter(({ option, main }) => main && factors.get(option).length)
      .map(({ option, phrase }) => `${phrase} by a factor of ${middle(factors.get(option)).toFixed(2)}`);
    const all = [
      `predicted from ${model.tables.length} tables; the nearest, with distances: ${near.join("; ")}`,
      `four of five left-out tables were missed by at most: ${errors.join(", ")}`,
    ];
    const [least, most] = model.measured_rows;
    if (profile.rows < least / model.far || profile.rows > most * model.far) {
      const range = [least, most].map((rows) => rows.toLocaleString("en")).join(" to ");
      all.push(`measured tables have ${range} rows: for yours the errors may be much larger`);
    }
    if (profile.rows <= model.tiny_rows) all.push("your table is so small that any format does");
    return all;
  }

  const cellOf = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

  function showProfile({ table, block }) {
    const digits = (number) => number.toLocaleString("en", { maximumSignificantDigits: 3 });
    const rows = table.map((each) => {
      const share = (number) => `${digits(100 * number)} %`;
      const row = document.createElement("tr");
      const facts = [each.kind, digits(10 ** each.width), share(each.nulls), share(10 ** each.distinct)];
      facts.push(digits(each.sortedness), digits(10 ** each.runs));
      row.append(cellOf("th", each.name), ...facts.map((text) => cellOf("td", text)));
      row.firstChild.scope = "row";
      return row;
    });
    part("profile").tBodies[0].replaceChildren(...rows);
    part("profile").caption.textContent = `Columns of your table, by its first ${block.toLocaleString("en")} rows`;
  }

  async function answer(file) {
    part("found").hidden = true;
    part("status").textContent = `Reading ${file.name} ...`;
    let profile;
    try {
      profile = tableReader.profileOf(await tableReader.readTable(file), model);
    } catch (error) {
      part("status").textContent = `${file.name}: ${error.message}. Other files: format-bench predict --data FILE.`;
      return;
    }
    const evidence = evidenceOf(profile);
    const quoted = /^[\w.@/-]+$/.test(file.name) ? file.name : `'${file.name.replaceAll("'", "'\\''")}'`;
    const command = `format-bench recommend --data ${quoted}`;
    part("found").hidden = false;
    document.dispatchEvent(
      new CustomEvent("choose-data", {
        detail: (data) => {
          const factors = fill(data, profile, evidence);
          data.command = command;
          const remarks = remarksOf(profile, evidence, data.suites[0], factors);
          part("remarks").replaceChildren(...remarks.map((text) => cellOf("li", text)));
        },
      }),
    );
    part("command").textContent = command;
    showProfile(profile);
    part("found").dataset.profile = JSON.stringify(profile);
    const number = (count) => count.toLocaleString("en");
    part("status").textContent = `${file.name}: ${number(profile.rows)} rows, ${number(profile.columns)} columns`;
  }

  part("file").addEventListener("change", ({ target }) => target.files[0] && answer(target.files[0]));
})();
