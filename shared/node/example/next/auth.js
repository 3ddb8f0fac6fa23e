import { createLatchkey, nextAdapter } from '@latchkey/node';
import { headers } from 'next/headers';
import { redirect } from 'next/navigation';

export const latchkey = createLatchkey({
  issuer: process.env.LATCHKEY_ISSUER,
  clientId: process.env.LATCHKEY_CLIENT_ID,
  apiKey: process.env.LATCHKEY_API_KEY,
  redirectUri: process.env.REDIRECT_URI,
  session: { secret: process.env.SESSION_SECRET },
  onError: (error) => console.error(error.code, error.message),
});

export const auth = nextAdapter(latchkey, { headers, redirect });
