/** The place of an object, or of objects whose names begin with `key`. */
export interface S3Address {
  bucket: string;
  /** Empty, or ends in `/`: a prefix. */
  key: string;
}

/** Malformed `s3://` URL. The message is one line. */
export class S3AddressError extends Error {}

const bucketFormat = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** The longest key that S3 accepts, in bytes, with room for a backup's name. */
const maxKeyBytes = 900;

export function isS3Address(text: string): boolean {
  return /^s3:/i.test(text);
}

/** Parses `s3://bucket`, `s3://bucket/prefix/` and `s3://bucket/key`. The key is used unchanged, without decoding. */
export function parseS3Address(text: string): S3Address {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  if (!bucketFormat.test(bucket)) throw new S3AddressError(`${printable(text)} is malformed: use s3://bucket/prefix/`);
  const segments = key.split('/');
  // A URL would drop dot segments, and so name another object.
  const isClean = segments.every(
    (one, index) => one !== '.' && one !== '..' && (one !== '' || index === segments.length - 1),
  );
  if (!isClean || /[\s\p{C}?#\\]/u.test(key) || Buffer.byteLength(key) > maxKeyBytes) {
    throw new S3AddressError(`${printable(text)} has a malformed key: no empty or dot segments, spaces, ?, # or \\`);
  }
  return { bucket, key };
}

export function nameOf({ bucket, key }: S3Address): string {
  return `s3://${bucket}/${key}`;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}
