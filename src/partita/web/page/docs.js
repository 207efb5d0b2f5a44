/** The description of the API, drawn from its OpenAPI document. */

import { openapi, takeTokenFromAddress } from "./api.js";
import { el, replaceContent, table } from "./dom.js";
import { errorPanel } from "./parts/panels.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));

async function show() {
  try {
    replaceContent(main, page(await openapi()));
  } catch (error) {
    replaceContent(main, errorPanel("The description could not be loaded", error, show));
  }
  main.removeAttribute("aria-busy");
}

/** @param {any} document_ */
function page({ info, tags, paths }) {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({ path, method: method.toUpperCase(), route })),
  );
  const sections = tags.map((/** @type {any} */ tag) =>
    el(
      "section",
      { class: "column" },
      el("h2", {}, tag.name),
      el("p", { class: "quiet" }, tag.description),
      ...routes.filter(({ route }) => route.tags.includes(tag.name)).map(routePanel),
    ),
  );
  const title = el("h1", {}, `${info.title} ${info.version}: the API`);
  const links = el(
    "p",
    { class: "links" },
    el("a", { href: "api/openapi.json" }, "OpenAPI document"),
    el("a", { href: "api/schema" }, "JSON Schema of a result"),
  );
  return el("div", { class: "view" }, title, el("p", {}, info.description), links, ...sections);
}

/** @param {{path: string, method: string, route: any}} entry */
function routePanel({ path, method, route }) {
  const [status, success] = Object.entries(route.responses).find(([code]) => code < "300") ?? [];
  return el(
    "details",
    { class: "panel route" },
    el("summary", {}, el("code", {}, `${method} ${path}`), ` ${route.description.split(". ")[0]}`),
    el("p", {}, route.description),
    ...parameterTable(route.parameters ?? []),
    ...schemaBlock("Body", route.requestBody),
    ...schemaBlock(`Answer ${status ?? ""}`, success),
    el("h3", {}, "With curl"),
    el("pre", {}, el("code", {}, curl(method, path, route))),
  );
}

/** @param {any[]} parameters */
function parameterTable(parameters) {
  if (!parameters.length) return [];
  const rows = parameters.map(({ name, description, required, in: place, schema }) =>
    el(
      "tr",
      {},
      el("td", {}, el("code", {}, name)),
      el("td", {}, required ? place : `${place}, default ${JSON.stringify(schema?.default ?? "")}`),
      el("td", {}, description ?? ""),
    ),
  );
  return [el("div", { class: "wide" }, table("plain", ["Parameter", "In", "Description"], rows))];
}

/** @param {string} title @param {any} content */
function schemaBlock(title, content) {
  const [type, { schema }] = /** @type {[string, any]} */ (
    Object.entries(content?.content ?? {})[0] ?? ["", {}]
  );
  if (!schema) return [];
  const text = shape(schema, 0);
  return [el("h3", {}, `${title} (${type})`), el("pre", {}, el("code", {}, text))];
}

/** A schema in the form of the value. @param {any} schema @param {number} depth @returns {string} */
function shape(schema, depth) {
  const indent = "  ".repeat(depth + 1);
  if (schema.properties) {
    const required = schema.required ?? [];
    const lines = Object.entries(schema.properties).map(
      ([name, value]) =>
        `${indent}${name}${required.includes(name) ? "" : "?"}: ${shape(value, depth + 1)}`,
    );
    return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
  }
  if (schema.anyOf) return schema.anyOf.map((/** @type {any} */ one) => shape(one, depth)).join(" | ");
  if (schema.prefixItems)
    return `[${schema.prefixItems.map((/** @type {any} */ one) => shape(one, depth)).join(", ")}]`;
  if (schema.type === "array") return `[${shape(schema.items ?? {}, depth)}, …]`;
  if (schema.enum) return schema.enum.map((/** @type {any} */ one) => JSON.stringify(one)).join(" | ");
  if (schema.const) return JSON.stringify(schema.const);
  return schema.type ?? "any";
}

/** @param {string} method @param {string} path @param {any} route */
function curl(method, path, route) {
  const address = `${location.origin}${path.replaceAll("{", "").replaceAll("}", "")}`;
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}'${address}'`];
  if (route.requestBody) lines.push("-H 'Content-Type: application/json' -d '{…}'");
  return lines.join(" \\\n  ");
}

takeTokenFromAddress();
show();
