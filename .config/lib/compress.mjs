import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The highest level makes files 7 % smaller and takes ten times as long: worth it in the image, not at `npm start`. */
const level = process.env['ASSET_COMPRESSION'] === 'best' ? constants.BROTLI_MAX_QUALITY : 9;

/** Writes `x.js.br` and `x.js.gz` beside `x.js`. */
export async function compress(path) {
  const content = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: level };
  await Promise.all([
    promisify(brotliCompress)(content, { params }).then((packed) => writeFile(`${path}.br`, packed)),
    promisify(gzip)(content, { level: 9 }).then((packed) => writeFile(`${path}.gz`, packed)),
  ]);
}
