import { writeFileSync } from 'node:fs';

/**
 * Vitest reporter: writes the errors that no test caught to the file LATCHKEY_TEST_OUTSIDE, as an array of
 * `{ file, text }`. They fail the run, and the JSON reporter leaves them out. `file` is absent if no test file ran.
 */
export default class OutsideErrors {
  onTestRunEnd(_modules, errors) {
    const found = errors.map((error) => ({
      ...(error.VITEST_TEST_PATH && { file: error.VITEST_TEST_PATH }),
      text: `${error.type ?? 'Error'}: ${error.stack ?? error.message ?? JSON.stringify(error)}`,
    }));
    writeFileSync(process.env['LATCHKEY_TEST_OUTSIDE'], JSON.stringify(found));
  }
}
