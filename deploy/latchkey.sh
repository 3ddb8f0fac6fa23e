#!/bin/sh
# In the image: `latchkey` serves, `latchkey <command>` is what `npm run <command>` is in a checkout.
exec node --enable-source-maps /app/server/dist/main.js "$@"
