import { auth } from '../../auth.js';

export default async function Account() {
  const { user } = await auth.requireSession({ returnTo: '/account' });
  return (
    <form action="/auth/sign-out" method="post">
      Hello, {user.email} <button>Sign out</button>
    </form>
  );
}
