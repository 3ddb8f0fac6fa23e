/** A masked address: `a…@example.com`. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  const [first = ''] = address;
  return `${first}…${address.slice(at)}`;
}

/** A masked phone number: `…4567`. */
export function maskPhone(phone: string): string {
  return `…${phone.slice(-4)}`;
}
