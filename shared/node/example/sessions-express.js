import { createLatchkey, expressAdapter } from '@latchkey/node';
import express from 'express';

const auth = expressAdapter(
  createLatchkey({
    issuer: process.env.LATCHKEY_ISSUER,
    clientId: process.env.LATCHKEY_CLIENT_ID,
    apiKey: process.env.LATCHKEY_API_KEY,
    redirectUri: process.env.REDIRECT_URI, // http://localhost:3001/auth/callback
    session: { secret: process.env.SESSION_SECRET }, // openssl rand -base64 32
    onError: (error) => console.error(error.code, error.message),
  }),
);

const app = express();
app.use(auth.routes);
app.use(express.static('pages')); // your pages with @latchkey/browser or @latchkey/react, if any
app.get('/account', auth.requireSession(), (req, res) => {
  const { sub, user } = auth.sessionOf(req);
  res.json({ sub, email: user.email });
});
app.get('/', (req, res) => {
  res.send(
    '<a href="/account">Your account</a> <form method="post" action="/auth/sign-out"><button>Sign out</button></form>',
  );
});
app.listen(Number(process.env.PORT), () => console.log(`Open ${new URL('/', process.env.REDIRECT_URI)}`));
