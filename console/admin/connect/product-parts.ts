export { ConnectPicker } from './connect-picker.tsx';
export { ProductAddress } from './product-address.tsx';
export { ProductSettings } from './product-settings.tsx';
