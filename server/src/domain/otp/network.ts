export { networkOf } from '../kernel/network.ts';
