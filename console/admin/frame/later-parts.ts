/** Parts of the frame that are fetched after the first page, as one script. */
export { keepFocus } from './keep-focus.ts';
export { Palette } from './search/palette.tsx';
