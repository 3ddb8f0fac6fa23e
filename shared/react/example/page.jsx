import { LatchkeyProvider, SignedIn, SignedOut, SignIn, useSession } from '@latchkey/react';
import { createRoot } from 'react-dom/client';

function Account() {
  const { session, signOut } = useSession();
  return (
    <p>
      Hello, {session?.user.email} <button onClick={() => signOut()}>Sign out</button>
    </p>
  );
}

createRoot(document.getElementById('root')).render(
  <LatchkeyProvider apiKey="lk_pk_…" baseUrl="https://id.example.com">
    <SignedIn fallback="Loading">
      <Account />
    </SignedIn>
    <SignedOut>
      <SignIn appName="Example" />
    </SignedOut>
  </LatchkeyProvider>,
);
