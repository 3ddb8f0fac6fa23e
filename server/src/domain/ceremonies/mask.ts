/** An address as shown to the person who typed it: `a…@example.com`. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const [first = ''] = address;
  return `${first}…${address.slice(at)}`;
}

/** A phone number of which its owner recognises the end: `…4567`. */
export function maskPhone(phone: string): string {
  return `…${phone.slice(-4)}`;
}
