import { createLatchkey, fastifyAdapter } from '@latchkey/node';
import Fastify from 'fastify';

const auth = fastifyAdapter(
  createLatchkey({
    issuer: process.env.LATCHKEY_ISSUER,
    clientId: process.env.LATCHKEY_CLIENT_ID,
    apiKey: process.env.LATCHKEY_API_KEY,
    redirectUri: process.env.REDIRECT_URI,
    session: { secret: process.env.SESSION_SECRET },
    onError: (error) => console.error(error.code, error.message),
  }),
);

const app = Fastify();
app.register(auth.routes);
app.get('/account', { preHandler: auth.requireSession() }, async (request) => {
  const { sub, user } = auth.sessionOf(request);
  return { sub, email: user.email };
});
app.get('/', async (request, reply) => {
  reply.type('text/html');
  return '<a href="/account">Your account</a> <form method="post" action="/auth/sign-out"><button>Sign out</button></form>';
});
await app.listen({ port: Number(process.env.PORT) });
console.log(`Open ${new URL('/', process.env.REDIRECT_URI)}`);
