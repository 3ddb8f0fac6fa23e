import { serve } from '@hono/node-server';
import { createLatchkey, honoAdapter } from '@latchkey/node';
import { Hono } from 'hono';

const auth = honoAdapter(
  createLatchkey({
    issuer: process.env.LATCHKEY_ISSUER,
    clientId: process.env.LATCHKEY_CLIENT_ID,
    apiKey: process.env.LATCHKEY_API_KEY,
    redirectUri: process.env.REDIRECT_URI,
    session: { secret: process.env.SESSION_SECRET },
    onError: (error) => console.error(error.code, error.message),
  }),
);

const app = new Hono();
app.use(auth.routes);
app.get('/account', auth.requireSession(), (c) => {
  const { sub, user } = auth.sessionOf(c);
  return c.json({ sub, email: user.email });
});
app.get('/', (c) =>
  c.html(
    '<a href="/account">Your account</a> <form method="post" action="/auth/sign-out"><button>Sign out</button></form>',
  ),
);
serve({ fetch: app.fetch, port: Number(process.env.PORT) }, () => {
  console.log(`Open ${new URL('/', process.env.REDIRECT_URI)}`);
});
