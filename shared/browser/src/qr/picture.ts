import { encodeQr } from './encode.ts';

/** The QR code of `text` as an SVG with quiet zone; dark on light in both themes, as scanners expect. */
export function drawQr(text: string): SVGSVGElement {
  const modules = encodeQr(text);
  const quiet = 2;
  const size = modules.length + 2 * quiet;
  const path = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + quiet} ${y + quiet}h1v1h-1z` : '')));
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('shape-rendering', 'crispEdges');
  const drawing = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  drawing.setAttribute('d', path.join(''));
  svg.append(drawing);
  return svg;
}
