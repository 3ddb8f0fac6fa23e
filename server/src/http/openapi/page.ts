import { type Html, html, nothing } from '../markup.ts';
import type { Answer, OpenApiDocument, Operation, Schema } from './document.ts';

type Paths = OpenApiDocument['paths'];

/** The document as a page without scripts: each operation opens to its parameters, body and responses. */
export function referencePage({ tags, paths, components }: OpenApiDocument): Html {
  return html`
    <nav aria-label="Contents"><ul>${tags.map(({ name }) => html`<li><a href="#${anchor(name)}">${name}</a></li>`)}
      <li><a href="#schemas">Schemas</a></li></ul></nav>
    ${tags.map(
      ({ name, description }) => html`<section aria-labelledby="${anchor(name)}">
        <h2 id="${anchor(name)}">${name}</h2><p>${description}</p>
        ${operationsOf(paths, name)}</section>`,
    )}
    <section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
      ${Object.entries(components.schemas).map(
        ([name, schema]) =>
          html`<details id="schema-${name}"><summary><code>${name}</code></summary>${described(schema)}</details>`,
      )}</section>`;
}

const anchor = (name: string): string => name.toLowerCase().replace(/\W+/g, '-');

function operationsOf(paths: Paths, tag: string): Html[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      operation.tags.includes(tag) ? [operationPart(method, path, operation)] : [],
    ),
  );
}

function operationPart(method: string, path: string, operation: Operation): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses, security } = operation;
  const schemes = security.map((alternative) => Object.keys(alternative)[0] ?? 'none');
  return html`<details id="${operationId}">
    <summary><code>${method.toUpperCase()} ${path}</code> <span>${summary}</span></summary>
    ${description === undefined ? nothing : html`<p>${description}</p>`}
    <p>Authentication: ${schemes.length === 0 ? 'none' : schemes.join(', ')}</p>
    ${parameters.length === 0 ? nothing : html`<h3>Parameters</h3><ul>${parameters.map(parameterPart)}</ul>`}
    ${requestBody === undefined ? nothing : html`<h3>Request body</h3>${contentPart(requestBody)}`}
    <h3>Responses</h3><ul>${grouped(responses).map(
      ([codes, answer]) => html`<li><code>${codes}</code> ${answer.description} ${contentPart(answer)}</li>`,
    )}</ul></details>`;
}

function parameterPart({ name, in: place, required, description }: NonNullable<Operation['parameters']>[number]): Html {
  return html`<li><code>${name}</code> (${place}${required === true ? ', required' : ''}) ${description}</li>`;
}

function contentPart({ content = {} }: Pick<Answer, 'content'>): Html {
  return html`${Object.entries(content).map(([type, { schema }]) => html`<div><code>${type}</code> ${described(schema)}</div>`)}`;
}

/** Statuses with the same response, in one line. */
function grouped(responses: Operation['responses']): [codes: string, answer: Answer][] {
  const groups = new Map<Answer, string[]>();
  for (const [status, answer] of Object.entries(responses)) groups.set(answer, [...(groups.get(answer) ?? []), status]);
  return [...groups].map(([answer, codes]) => [codes.join(', '), answer]);
}

/** The members of a schema, as nested lists. */
function described(schema: Schema): Html {
  const {
    $ref,
    anyOf,
    items,
    contentSchema,
    properties,
    required = [],
  } = schema as {
    $ref?: string;
    anyOf?: Schema[];
    items?: Schema;
    contentSchema?: Schema;
    properties?: Record<string, Schema>;
    required?: string[];
  };
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf) return html`one of <ul>${anyOf.map((one) => html`<li>${described(one)}</li>`)}</ul>`;
  if (contentSchema) return html`around ${described(contentSchema)}`;
  const about = html`${typeName(schema)} ${String(schema['description'] ?? '')}`;
  if (items) return html`${about} of ${described(items)}`;
  if (!properties) return about;
  return html`${about}<ul>${Object.entries(properties).map(
    ([name, property]) =>
      html`<li><code>${name}</code>${required.includes(name) ? '' : '?'} ${described(property)}</li>`,
  )}</ul>`;
}

function typeName({ type, enum: values, const: value }: Schema): Html {
  if (Array.isArray(values)) return html`<i>${values.map(String).join(' | ')}</i>`;
  if (value !== undefined) return html`<i>${String(value)}</i>`;
  return html`<i>${typeof type === 'string' ? type : 'any'}</i>`;
}
