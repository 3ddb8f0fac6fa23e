/** How the tests start Chromium: it calls nobody, and runs as root where the tests do. */
export function browserFlags() {
  return [
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    '--disable-quic',
    // Chromium's sandbox needs a user that is not root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ];
}
