// What a build step does: writes a file that the test then needs.
require('fs').writeFileSync('answer.json', JSON.stringify({ answer: 42 }));
