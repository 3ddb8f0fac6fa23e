import { refuse } from '../kernel/problem.ts';
import type { LogoType } from './logo.entity.ts';

/** An image, as detected from its bytes. */
export interface LogoFile {
  type: LogoType;
  /** Pixels. */
  width: number;
  height: number;
}

export const maxLogoBytes = 256 * 1024;
const [minSide, maxSide] = [16, 2048];

/**
 * Detects the file type from the bytes: a PNG, JPEG or WebP of at most 256 KB and 2,048 pixels a side. Refuses
 * `invalid`. SVG is refused: it can contain scripts and URLs, and sanitising it is not reliable.
 */
export function checkLogo(bytes: Uint8Array): LogoFile {
  const invalid = (reason: string): never => refuse({ code: 'invalid', field: 'logo', reason });
  if (bytes.length > maxLogoBytes) invalid(`must have at most ${maxLogoBytes / 1024} KB`);
  const file = png(bytes) ?? jpeg(bytes) ?? webp(bytes);
  if (!file) {
    if (looksLikeSvg(bytes)) invalid('must be PNG, JPEG or WebP: an SVG can contain scripts, so save it as a PNG');
    return invalid('must be a PNG, JPEG or WebP picture');
  }
  const { width, height } = file;
  if (Math.min(width, height) < minSide || Math.max(width, height) > maxSide) {
    invalid(`must be ${minSide} to ${maxSide} pixels a side, but is ${width} × ${height}`);
  }
  return file;
}

function png(bytes: Uint8Array): LogoFile | null {
  const isPng = startsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  if (!isPng || bytes.length < 45 || text(bytes, 12, 4) !== 'IHDR') return null;
  // Refuses truncated files.
  if (text(bytes, bytes.length - 8, 4) !== 'IEND') return null;
  const view = viewOf(bytes);
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

/** Reads the markers up to the frame header (ISO/IEC 10918-1 B.2.2). */
function jpeg(bytes: Uint8Array): LogoFile | null {
  if (!startsWith(bytes, 0, [0xff, 0xd8, 0xff]) || !startsWith(bytes, bytes.length - 2, [0xff, 0xd9])) return null;
  const view = viewOf(bytes);
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] as number;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { type: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    const length = view.getUint16(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
}

/** RFC 9649: simple (lossy or lossless) and extended files. */
function webp(bytes: Uint8Array): LogoFile | null {
  if (bytes.length < 30 || text(bytes, 0, 4) !== 'RIFF' || text(bytes, 8, 4) !== 'WEBP') return null;
  const view = viewOf(bytes);
  if (view.getUint32(4, true) + 8 > bytes.length) return null;
  const type = 'image/webp';
  switch (text(bytes, 12, 4)) {
    case 'VP8 ':
      if (!startsWith(bytes, 23, [0x9d, 0x01, 0x2a])) return null;
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return null;
      const bits = view.getUint32(21, true);
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { type, width: (view.getUint32(24, true) & 0xffffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
    default:
      return null;
  }
}

function looksLikeSvg(bytes: Uint8Array): boolean {
  return /<(\?xml|svg|!doctype)/i.test(text(bytes, 0, Math.min(bytes.length, 512)));
}

function startsWith(bytes: Uint8Array, at: number, expected: readonly number[]): boolean {
  return at >= 0 && expected.every((byte, index) => bytes[at + index] === byte);
}

function text(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(Math.max(0, at), at + length));
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
