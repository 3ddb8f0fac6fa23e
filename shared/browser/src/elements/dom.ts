export type Part = Node | string;

/** An element with a CSS part, which is also its class. */
export function h(
  tag: string,
  part: string,
  attributes: Record<string, string | (() => void)>,
  ...children: Part[]
): HTMLElement {
  const element = document.createElement(tag);
  element.className = part;
  element.setAttribute('part', part);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') element.setAttribute(name, value);
    else element.addEventListener(name.slice(2), () => element.getAttribute('aria-disabled') !== 'true' && value());
  }
  element.append(...children);
  return element;
}

/** A form that ignores submissions while its button is disabled. */
export function form(submit: () => void, ...children: Part[]): HTMLElement {
  const element = h('form', 'form', { novalidate: '' }, ...children);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    if (element.querySelector('button')?.getAttribute('aria-disabled') !== 'true') submit();
  });
  return element;
}

export const button = (text: string): HTMLElement => h('button', 'button', { type: 'submit' }, text);

export const link = (text: string, act: () => void): HTMLElement =>
  h('button', 'link', { type: 'button', onclick: act }, text);

/** An input with its label, and a hint below. */
export function field(name: string, label: string, attributes: Record<string, string>, hint?: string) {
  const input = h('input', 'input', { id: name, name, ...attributes }) as HTMLInputElement;
  const node = h('div', 'field', {}, h('label', 'label', { for: name }, label), input);
  if (hint) node.append(h('p', 'hint', { id: 'hint' }, hint));
  return { node, value: () => input.value };
}
