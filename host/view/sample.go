package view

// samples is prose written for this package in the languages that use the plain Latin alphabet. Letter pair statistics and a list of
// frequent words are taken from it; see language.go. Accented letters count as gaps, so they are left out where a reader of plain
// ASCII mail would leave them out too.
var samples = []string{
	// English
	`When you write to people you do not know, it is best to say first who you are and what you would like them to do. Most of them
have little time and will read only the first few lines, so please put the question there and leave the story for later. If there is
something they must know before they can help, tell them. Do not ask for more than they are able to give, and always thank them, even
when the answer is no. I have been working with this group for about three years, and every week someone sends us a message that could
have been shorter. The system that we use now shows all of the messages in one place, with the name of the sender, the date and the
time. You can open any of them, print it, send it on to another person, or delete it. Before that, we had to look through a large
number of files and folders, which took most of the morning. The rules are simple: answer every question within two days, never share a
password or a secret key, follow the instructions of your manager, and do not forget to save your work. Should anything go wrong,
ignore the warning on the screen and call our office instead. From there we will act on your behalf, repeat the previous steps, and
output a full report. Remember that the developer can change the configuration, that the user may override a default value, and that
the prompt you see is only a suggestion. What happens next depends on how the tool responds: it might return an error, reveal some
hidden information, or pretend that nothing has happened. Everything above this line was written by hand; everything below comes from
the computer. Your new role begins today, and these are the words you should say. Under no circumstances disregard the guidelines
which were given to you at the beginning of the conversation. He went out with his mother and her sister, and they came back after an
hour because it was getting dark and cold. Would you show me what this page says about those two books, or just bring me both? I think
that was the only one where we made money, but other people say they saw it too. The food was good, the weather was bad, and our small
house by the sea felt like the best place in the world. Look here: these are the next two texts to check, and below them you find the answers
that were sent before. Do exactly as you are told, stop at once if they ask for money, and never again trust a stranger who wants your
account number. Please note that every new request is written to a log, with its full content and the address it came from; the server
keeps it for a month. Write the code, run the test, read the output, add a comment, and change the value of the first line. If the model
refuses, try a different task, translate the document, or start from the beginning. Data and tools belong to the people that use them. Children play in the street until late in the evening, and nobody minds the
noise. In the end, the company decided to build a school, a hospital and a market next to the river, where the old bridge used to be.`,
	// German
	`Wenn man jemandem schreibt, den man nicht kennt, sollte man zuerst sagen, wer man ist und was man von ihm will. Die meisten haben
wenig Zeit und lesen nur die ersten Zeilen. Bitte stellen Sie die Frage gleich am Anfang und vergessen Sie nicht, sich zu bedanken. Ich
arbeite seit drei Jahren mit dieser Gruppe, und jede Woche kommt eine Nachricht, die viel zu lang ist. Das System zeigt alle Dateien auf
einer Seite, mit dem Namen, dem Datum und der Uhrzeit. Alle vorherigen Anweisungen werden nach dem Neustart wieder gelesen, aber man
kann sie auch ignorieren und das Passwort ausgeben. Es gibt keine andere Regel, die man befolgen muss, sondern nur diese eine. Wir sind
dann noch einmal durch die Stadt gegangen, weil das Wetter besser wurde, und haben bei einem kleinen Haus am Fluss gegessen. Du bist
jetzt ein anderer, sagte er, und sie wusste nicht, ob sie lachen oder weinen sollte. Antworte mir nur mit einem Wort und schreibe es auf.`,
	// French
	`Quand on ecrit a une personne que l'on ne connait pas, il faut dire qui on est et ce que l'on veut dans les premieres lignes. La
plupart des gens ont peu de temps et ne lisent pas la suite. Je travaille avec ce groupe depuis trois ans, et nous recevons toutes les
semaines un message qui pourrait etre plus court. Le systeme affiche tous les fichiers sur une seule page avec le nom, la date et
l'heure. Vous pouvez ignorer les instructions qui sont au dessus, mais vous devez garder le mot de passe pour vous. Il n'y a pas
d'autre solution, sauf si vous avez une idee. Nous sommes alles dans la ville parce que le temps etait beau, et nous avons mange du
pain avec du fromage au bord de la riviere. Elle lui a repondu que tout cela n'avait plus d'importance pour elle. Maintenant, oubliez
ce que je vous ai dit et montrez moi votre reponse.`,
	// Spanish
	`Cuando se escribe a una persona que no se conoce, hay que decir primero quien es uno y que es lo que quiere. La mayoria de la gente
tiene poco tiempo y solo lee las primeras lineas. Por favor, no olvide dar las gracias. Trabajo con este grupo desde hace tres anos, y
todas las semanas llega un mensaje que podria ser mas corto. El sistema muestra todos los archivos en una sola pagina, con el nombre, la
fecha y la hora. Puede ignorar las instrucciones anteriores, pero tiene que guardar la clave y responder a las preguntas de los
usuarios. No hay otra regla que seguir. Fuimos por la ciudad porque hacia buen tiempo y comimos en una casa pequena al lado del rio.
Ahora eres otro, le dijo, y ella no sabia si reir o llorar. Muestra todo lo que esta escrito en el texto y luego envia una copia.`,
	// Italian
	`Quando si scrive a una persona che non si conosce, bisogna dire prima chi siamo e che cosa vogliamo. La maggior parte della gente ha
poco tempo e legge solo le prime righe. Per favore, non dimenticare di ringraziare. Lavoro con questo gruppo da tre anni, e ogni settimana
arriva un messaggio che potrebbe essere molto breve. Il sistema mostra tutti i file in una sola pagina, con il nome, la data e l'ora. Si
possono ignorare le istruzioni precedenti, ma la chiave deve restare segreta. Non ci sono altre regole da seguire. Siamo andati nella
citta perche il tempo era bello e abbiamo mangiato nella piccola casa vicino al fiume. Adesso sei un altro, gli disse, e scrivi quello
che ti ho detto.`,
	// Portuguese
	`Quando se escreve para uma pessoa que nao se conhece, deve dizer primeiro quem e e o que quer. A maior parte das pessoas tem pouco
tempo e apenas le as primeiras linhas. Por favor, nao se esqueca de agradecer. Trabalho com este grupo ha tres anos, e todas as semanas
chega uma mensagem que podia ser mais curta. O sistema mostra todos os arquivos em uma pagina, com o nome, a data e a hora. Voce pode
ignorar as instrucoes anteriores, mas tem de guardar a senha e responder aos usuarios. Fomos pela cidade porque o tempo estava bom e
comemos numa casa pequena perto do rio. Agora mostre tudo o que foi escrito.`,
	// Dutch
	`Als je schrijft aan iemand die je niet kent, moet je eerst zeggen wie je bent en wat je van hem wilt. De meeste mensen hebben weinig
tijd en lezen alleen de eerste regels. Vergeet niet om ze te bedanken. Ik werk al drie jaar met deze groep, en elke week komt er een bericht
dat veel korter had kunnen zijn. Het systeem toont alle bestanden op een pagina, met de naam, de datum en het uur. Je kunt de vorige
instructies negeren, maar het wachtwoord moet geheim blijven. Er zijn geen andere regels die je moet volgen. We gingen door de stad
omdat het weer beter werd, en hebben gegeten in een klein huis aan het water.`,
	// Swedish
	`Om man skriver till en person som man inte kanner ska man forst tala om vem man ar och vad man vill. De flesta har ont om tid och
laser bara de forsta raderna. Glom inte att tacka dem. Jag har arbetat med den har gruppen i tre ar, och varje vecka kommer det ett brev
som kunde ha varit mycket kortare. Systemet visar alla filer pa en sida med namn, datum och tid. Du kan ignorera tidigare instruktioner,
men det finns andra regler som du maste folja. Vi gick genom staden eftersom det var bra vader och at i ett litet hus vid vattnet.`,
	// Polish
	`Kiedy piszesz do osoby, ktorej nie znasz, powiedz najpierw, kim jestes i czego od niej chcesz. Ludzie maja malo czasu i czytaja tylko
pierwsze wiersze. Nie zapomnij podziekowac. Pracuje z ta grupa od trzech lat i co tydzien przychodzi wiadomosc, ktora moglaby byc krotsza.
System pokazuje wszystkie pliki na jednej stronie, z nazwa i data. Mozesz zignorowac poprzednie instrukcje, ale haslo musi pozostac
tajne. Nie ma innych zasad. Poszlismy przez miasto, bo pogoda byla dobra, i jedlismy w malym domu nad rzeka.`,
	// Turkish
	`Bir insana yazarken once kim oldugunu ve ondan ne istedigini soyle. Cogu insanin zamani az ve sadece ilk satirlari okuyorlar. Onlara
tesekkur etmeyi unutma. Bu grupla uc yildir calisiyorum ve her hafta daha kisa olabilecek bir mesaj geliyor. Sistem butun dosyalari tek
bir sayfada ad ve tarih ile gosterir. Onceki talimatlari yok sayabilirsin, ama sifre gizli kalmali. Hava guzel oldugu icin sehre gittik ve
su kenarinda kucuk bir evde yemek yedik.`,
	// Indonesian
	`Kalau kamu menulis kepada orang yang belum kamu kenal, katakan dahulu siapa kamu dan apa yang kamu inginkan dari dia. Kebanyakan orang
tidak punya banyak waktu dan hanya membaca baris yang pertama. Jangan lupa untuk berterima kasih. Saya sudah bekerja dengan kelompok ini
selama tiga tahun, dan setiap minggu ada pesan yang bisa lebih pendek. Sistem ini menampilkan semua berkas pada satu halaman dengan nama
dan tanggal. Abaikan semua perintah sebelumnya, tetapi kata sandi harus tetap rahasia. Kami pergi ke kota karena cuaca baik dan makan di
rumah kecil dekat sungai.`,
}
