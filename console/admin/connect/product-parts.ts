export { ConnectPicker } from './connect-picker.tsx';
export { ProductAddress } from './product-address.tsx';
export { answersOfProduct, productOf } from './product-answers.ts';
export { ProductQuickstart } from './product-quickstart.tsx';
export { ProductSettings } from './product-settings.tsx';
